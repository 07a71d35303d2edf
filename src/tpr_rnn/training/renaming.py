"""Renaming: stories told anew of other people, places and things, each time that they are drawn.

A task's stories know a few names, places and things. With others in their stead they have the same
answers, and no story comes twice as it was: what is learned by heart is of no use.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from tpr_rnn.data.encoding import Encoded
from tpr_rnn.data.vocabulary import Vocabulary
from tpr_rnn.errors import UserError


@dataclass(frozen=True)
class Renaming:
    """The words that may change places, by number."""

    size: int
    """Of the vocabulary."""
    kept: tuple[frozenset[str], ...]
    """Kinds that stay as they are (`Encoded.kept`)."""
    kinds: Mapping[str, Int[np.ndarray, " k"]]
    lists: Mapping[int, tuple[int, ...]]
    """Answers of several words, which are one word of the vocabulary: the words of each."""

    @staticmethod
    def of(kinds: Mapping[str, Sequence[str]], vocabulary: Vocabulary, data: Encoded) -> "Renaming":
        """The interchangeable words of a data set, as far as the vocabulary has them."""
        known = {
            kind: [word.lower() for word in words if word.lower() in vocabulary]
            for kind, words in kinds.items()
        }
        if all(len(words) < 2 for words in known.values()):
            raise UserError(
                "rename_share needs words that may change places, and these stories have none "
                "that the data set names; leave rename_share out"
            )
        parts = {word: tuple(word.split(",")) for word in vocabulary.words if "," in word[1:-1]}
        known = {kind: words for kind, words in known.items() if _closed(words, parts)}
        mobile = set(itertools.chain(*known.values()))
        return Renaming(
            len(vocabulary),
            data.kept,
            {kind: _numbers(words, vocabulary) for kind, words in known.items()},
            {
                vocabulary.number(word): tuple(map(vocabulary.number, of))
                for word, of in parts.items()
                if mobile & set(of)
            },
        )

    def draw(self, random: np.random.Generator) -> Int[np.ndarray, "c v"]:
        """For each row of `kept`, the word that stands for each: itself, or another of its kind."""
        other = {kind: random.permutation(words) for kind, words in self.kinds.items()}
        by_parts = {parts: word for word, parts in self.lists.items()}
        table = np.tile(np.arange(self.size), (len(self.kept), 1))
        for row, kept in zip(table, self.kept, strict=True):
            for kind, words in self.kinds.items():
                if kind not in kept:
                    row[words] = other[kind]
            for word, parts in self.lists.items():
                row[word] = by_parts[tuple(row[list(parts)].tolist())]
        return table


def _closed(words: Sequence[str], lists: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether each list of such words is a list whatever they change places with.

    ("apple,milk" is one word: where there is no "milk,apple", the two had better stay.)
    """
    mine = [parts for parts in lists.values() if set(parts) & set(words)]
    return all(
        set(parts) <= set(words)
        and sum(len(other) == len(parts) for other in mine) == math.perm(len(words), len(parts))
        for parts in mine
    )


def _numbers(words: Iterable[str], vocabulary: Vocabulary) -> Int[np.ndarray, " k"]:
    return np.array([vocabulary.number(word) for word in words], dtype=np.int64)
