"""Words and their numbers: deterministic, and saved with every model."""

import difflib
import re
from collections.abc import Iterable, Mapping

from tpr_rnn.errors import UserError, quoted

PADDING = "<pad>"

MENTIONED = 10
"""A complaint names so many unknown words at most; looking for similar ones takes a while."""

# Punctuation is a word of its own; whatever else stands between blanks is one word, in any
# script. (\w would break Devanagari words apart at their vowel signs.)
_PUNCTUATION = '.,?!;:।"()'
_TOKEN = re.compile(f"[{re.escape(_PUNCTUATION)}]|[^{re.escape(_PUNCTUATION)}\\s]+")


def tokenize(text: str) -> tuple[str, ...]:
    """The words of a sentence or question, in lower case; punctuation marks are words too."""
    return tuple(_TOKEN.findall(text.lower()))


def answer_word(answer: str) -> str:
    """An answer as one word: answers of several parts ("apple,milk") are a class each."""
    return " ".join(answer.lower().split())


class Vocabulary:
    """An ordered set of words; number 0 is the padding."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words: tuple[str, ...] = (PADDING, *sorted(set(words) - {PADDING}))
        self._number = {word: number for number, word in enumerate(self.words)}

    def renamed(self, names: Mapping[str, str]) -> "Vocabulary":
        """The same words with the same numbers, some of them under another name."""
        other = Vocabulary(())
        other.words = tuple(names.get(word, word) for word in self.words)
        other._number = {word: number for number, word in enumerate(other.words)}
        return other

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.words == other.words

    def __hash__(self) -> int:
        return hash(self.words)

    def number(self, word: str) -> int:
        """The number of a word; an unknown one is an error that suggests the nearest known."""
        try:
            return self._number[word]
        except KeyError:
            raise UserError(self.complaint([word])) from None

    def unknown(self, words: Iterable[str]) -> list[str]:
        """The words that are not in the vocabulary, each once, in order."""
        return list(dict.fromkeys(word for word in words if word not in self._number))

    def nearest(self, word: str, count: int = 3) -> list[str]:
        """Known words that are spelt like this one."""
        known = [known for known in self.words if known != PADDING and known[0].isalpha()]
        return difflib.get_close_matches(word, known, n=count, cutoff=0.5)

    def complaint(self, words: Iterable[str]) -> str:
        """Say which words the model does not know, and what it may know instead."""
        unknown = list(words)
        parts = []
        for word in unknown[:MENTIONED]:
            near = self.nearest(word)
            meant = f" (did you mean {', '.join(near)}?)" if near else ""
            parts.append(f"{quoted(word)}{meant}")
        plural = "s" if len(unknown) > 1 else ""
        more = f" and {len(unknown) - MENTIONED} more" if len(unknown) > MENTIONED else ""
        return f"the model has never seen the word{plural} {', '.join(parts)}{more}"
