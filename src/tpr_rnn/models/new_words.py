"""New words: what kind of word a sentence asks for where it has one that the model does not know.

A model that was trained on wide stories has slots: words such as `place-1` that have stood for any
place. A new word takes a free slot of its kind. The kind is learned from what stands in its place
in stories that the simulator tells: after "went to the" that is always a place.
"""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Literal, NamedTuple

from tpr_rnn.data.simulator import tell
from tpr_rnn.data.simulator.wide import WIDE_TASKS
from tpr_rnn.data.simulator.wide.words import (
    NAME_SLOTS,
    NAMES,
    PLACE_SLOTS,
    PLACES,
    THING_SLOTS,
    THINGS,
)
from tpr_rnn.data.vocabulary import Vocabulary, tokenize
from tpr_rnn.errors import UserError, quoted

Kind = Literal["name", "thing", "place"]
SLOTS: Mapping[Kind, tuple[str, ...]] = {
    "name": NAME_SLOTS,
    "thing": THING_SLOTS,
    "place": PLACE_SLOTS,
}
"""The slots of each kind of word."""
EXAMPLES: Mapping[Kind, str] = {"name": "mary", "thing": "milk", "place": "kitchen"}

_KNOWN: Mapping[Kind, tuple[str, ...]] = {"name": NAMES, "thing": THINGS, "place": PLACES}
_KIND_OF: Mapping[str, Kind] = {
    word.lower(): kind for kind, words in _KNOWN.items() for word in (*words, *SLOTS[kind])
}
_STORIES = 40

Around = tuple[str, str, str]
"""The two words before a place in a sentence and the one after it; nouns as their kinds."""


class NewWord(NamedTuple):
    """A new word, and what it was taken for."""

    word: str
    kind: Kind
    slot: str

    def __str__(self) -> str:
        """For a person to read."""
        return f"{self.word}: a {self.kind}, like {EXAMPLES[self.kind]}"


def new_words(
    texts: Sequence[str], vocabulary: Vocabulary, kinds: Mapping[str, str]
) -> tuple[NewWord, ...]:
    """The new words of a story (and a question, the last of the texts), each with a free slot.

    Args:
        texts: sentences and questions.
        vocabulary: the words of the model; one without slots takes no new words.
        kinds: what somebody says that a word is: a name, a thing or a place.

    Returns:
        Those words whose kind can be told; all others the model cannot read.
    """
    said = {word.lower(): _said(word, kind) for word, kind in kinds.items()}
    tokens = [tokenize(text) for text in texts]
    there = set(itertools.chain(*tokens))
    unknown = vocabulary.unknown(word for words in tokens for word in words)
    if not unknown:
        return ()
    free = {
        kind: [slot for slot in slots if slot in vocabulary and slot not in there]
        for kind, slots in SLOTS.items()
    }
    if not any(free.values()):
        return ()
    found = []
    for word in unknown:
        kind = said.get(word) or _kind(word, tokens, frozenset(unknown))
        if kind is None:
            continue
        if not free[kind]:
            raise UserError(
                f"a story can have {len(SLOTS[kind])} new {kind}s, and {quoted(word)} is one more"
            )
        found.append(NewWord(word, kind, free[kind].pop(0)))
    return tuple(found)


def _said(word: str, said: str) -> Kind:
    for kind in SLOTS:
        if kind == said:
            return kind
    raise UserError(f"{quoted(word)} can be a {', '.join(SLOTS)}, not {quoted(said)}")


def _kind(word: str, tokens: Sequence[Sequence[str]], unknown: frozenset[str]) -> Kind | None:
    """The one kind that all places of a word ask for, if there is one. The first places count.

    A later place that asks for another kind ("Where is the library?" asks for a thing) is passed
    over: what was told first says what the word is. So is a place that no known sentence has
    ("Who ate the kite?"): it says nothing of the kite. A verb has no other places.
    """
    possible: Counter[Kind] = Counter()
    for sentence in tokens:
        for position, each in enumerate(sentence):
            if each == word:
                asked = _asked_for(sentence, position, unknown)
                if not asked:
                    continue
                kept = {kind for kind in asked if kind in possible}
                possible = Counter({kind: asked[kind] for kind in kept or possible or asked})
    return possible.most_common(1)[0][0] if possible else None


def _asked_for(sentence: Sequence[str], position: int, unknown: frozenset[str]) -> Counter[Kind]:
    """How often which kind stands at a place in known sentences, whatever other new words are."""
    asked: Counter[Kind] = Counter()
    for around in _readings(_around(sentence, position), unknown):
        asked += _known_places().get(around, Counter())
    return asked


def _readings(around: Around, unknown: frozenset[str]) -> Iterator[Around]:
    choices = [tuple(SLOTS) if word in unknown else (word,) for word in around]
    yield from itertools.product(*choices)


def _around(sentence: Sequence[str], position: int) -> Around:
    words = ["", "", *(_KIND_OF.get(word, word) for word in sentence), ""]
    return words[position], words[position + 1], words[position + 3]


@cache
def _known_places() -> dict[Around, Counter[Kind]]:
    """What kinds of words stand in which places of the simulator's sentences and questions."""
    texts = {
        text
        for task in WIDE_TASKS
        if task != "wide-long"
        for seed in range(_STORIES)
        for story in [tell(task, seed=seed)]
        for text in (*story.sentences, *(question.text for question in story.questions))
    }
    places: dict[Around, Counter[Kind]] = {}
    for text in sorted(texts):
        sentence = tokenize(text)
        for position, word in enumerate(sentence):
            if word in _KIND_OF:
                asked = places.setdefault(_around(sentence, position), Counter())
                asked[_KIND_OF[word]] += 1
    return places


def kind_of(word: str) -> Kind | None:
    """What a known word is the name of; None if it is none of a person, a thing or a place."""
    return _KIND_OF.get(word)
