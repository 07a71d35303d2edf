"""Sentences of a story said together: "Bernhard is a swan (6) and green (9)"."""

from collections.abc import Sequence
from itertools import takewhile

from tpr_rnn.data.simulator.words import DROPPED, GAVE, GOT, THEN, TIMES, WENT
from tpr_rnn.data.vocabulary import tokenize

_PHRASES = [phrase.split() for phrase in (*THEN, *TIMES)]
UNFINISHED = {"a", "an", "the", *(first for first, *others in _PHRASES if others)}
"""They stay with what follows: "went to the kitchen (1) and the garden (2)", "this morning"."""

APART = ("and", "either", "or", "no", "not", "nobody")
"""A sentence with one of these means something else when it shares its beginning."""


_EVENTS = {phrase.split()[0] for phrase in (*WENT, *GOT, *DROPPED, *GAVE)} - {"left"}
IN_TIME = {*_EVENTS, *(phrase.split()[0] for phrase in THEN), "he", "she", "they"}
"""Sentences with one of these words are told in the story's order: what happened, not what is so.
"Left" is a side as well."""

NO_NAMES = {"the", *(phrase.split()[0] for phrase in (*THEN, *TIMES))}
"""Words that have a capital only where a sentence begins; of others only the plural animals of
"Mice are afraid of cats" do, and those are told by their verb."""


def said_together(sentences: Sequence[tuple[str, int]]) -> str:
    """Sentences, each with its number, in the order given unless they tell what happened.

    Those that begin with the same words share them, and are then told in the story's order; where
    it matters what came first, only neighbours do.
    """
    in_time = any(IN_TIME.intersection(tokenize(text)) for text, _ in sentences)
    if in_time:
        sentences = sorted(sentences, key=lambda told: told[1])
    groups: list[list[tuple[list[str], int]]] = []
    for text, number in sentences:
        words = text.rstrip(" .!").split() or [text]
        alike = groups[-1:] if in_time else groups
        own = next((group for group in alike if _shared([*group, (words, number)])), None)
        if own is None:
            groups.append([(words, number)])
        else:
            own.append((words, number))
    first, *others = map(_group, groups) if groups else [""]
    return "; ".join([first, *map(_inside, others)])


def _inside(sentence: str) -> str:
    """A sentence behind another one, without the capital that it has as a sentence."""
    word, _, rest = sentence.partition(" ")
    if word.lower() in NO_NAMES or rest.startswith("are "):
        return f"{word.lower()} {rest}"
    return sentence


def _group(group: Sequence[tuple[list[str], int]]) -> str:
    shared = _shared(group)
    in_order = sorted(group, key=lambda told: told[1])
    told = [f"{' '.join(words[shared:])} ({number})" for words, number in in_order]
    beginning = " ".join(group[0][0][:shared])
    return f"{beginning} {listed(told)}".strip()


def _shared(group: Sequence[tuple[list[str], int]]) -> int:
    """How many words all begin with, without losing anything of what each says."""
    if len(group) < 2:
        return 0
    plain = [[word.lower() for word in words] for words, _ in group]
    if any(word in APART for words in plain for text in words for word in tokenize(text)):
        return 0
    shorter = [words[:-1] for words in plain]  # each keeps a word of its own
    same = list(takewhile(lambda column: len(set(column)) == 1, zip(*shorter, strict=False)))
    while same and same[-1][0] in UNFINISHED:
        same.pop()
    return len(same)


def listed(items: Sequence[str]) -> str:
    """Items as one says them: a, b and c."""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)
