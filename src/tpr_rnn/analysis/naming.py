"""Names for learned vectors: the words that they depend on.

Nothing tells a model which of its vectors is "Mary". But a vector that turns when a word is taken
out of its sentence stands for that word. So each word in turn is replaced by the average of all
words that the model knows, and the vector's turn, 1 - cosine, is the word's *influence*.

A model may have a favourite that the average word gives as well, so that no word turns it much.
Then the other sentences of the story help: vectors of one direction form a *group*, and a word
counts the less, the fewer sentences of the group and the more other sentences have it.

Vectors of one kind may share most of their direction: all places, say. Those that depend on
different words, and are as far apart as a word must turn them to name them, are different things.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cosine_similarity, normalize

from tpr_rnn.models import TPRRNN
from tpr_rnn.models.networks import EntityRelationNetworks

MAJORITY = 0.5**0.5
"""A vector is mostly another's direction from this cosine on: half of its squared length is."""

WEAK = 0.1
"""Words that turn a vector by less than this (a cosine of 0.9, or 26°) do not name it alone."""

FIXED = 0.03
"""A vector that no word turns by this (a cosine of 0.97, or 14°) stands for no word."""

WORDS = 3
"""A vector that depends on more words than this has no name: that would be the sentence again."""

ALTERNATIVES = 3
"""A group's name shows so many different wordings at most."""

RARE = 4
"""It leaves out wordings that are more than so many times rarer than the most frequent one."""


@dataclass(frozen=True)
class Name:
    """What a vector stands for, in words."""

    text: str
    """Empty where it stands for nothing that has a name."""
    confidence: float
    """Share of the influence on the vector that these words have, from 0 to 1."""


NAMELESS = Name("", 0.0)


def influences(
    model: TPRRNN, networks: EntityRelationNetworks, words: Int[Tensor, "u w"]
) -> dict[str, Float[Tensor, "u w"]]:
    """How far each word of each sentence turns each of the networks' vectors: 1 - cosine.

    Args:
        model: a trained model.
        networks: its update or its inference networks.
        words: sentences or questions as word numbers; padding has no influence.
    """
    encoder = model.encoder
    average = encoder.word_vectors.mean(dim=0)
    distinct = (encoder.word_vectors[words] - average) * encoder.position_vectors  # u w v
    sentence = encoder(words)
    averaged = sentence.unsqueeze(1) - distinct  # each word in turn replaced by the average one
    original = networks.by_name(networks(sentence))
    replaced = networks.by_name(networks(averaged.flatten(0, 1)))
    found = {}
    for name, vector in original.items():
        turned = replaced[name].unflatten(0, words.shape)
        cosine = cosine_similarity(turned, vector.unsqueeze(1), dim=2).clamp(max=1)
        found[name] = torch.where(words > 0, 1 - cosine, 0)
    return found


def group_by_direction(vectors: Float[Tensor, "n d"], least: float = MAJORITY) -> list[int]:
    """The group of each vector: that which it is most like on average, or a new one.

    Groups are numbered in the order of their first vectors, and a vector joins one only if its mean
    cosine with the members is the least that is given, or more.
    """
    unit = normalize(vectors, dim=1)
    cosine = (unit @ unit.mT).double().numpy()
    likeness = np.zeros((0, len(cosine)))  # of each group to each vector, summed over members
    size = np.zeros(0)
    groups: list[int] = []
    for vector, to_others in enumerate(cosine):
        mean = likeness[:, vector] / size
        best = int(mean.argmax()) if len(mean) else 0
        if not len(mean) or mean[best] < least:
            best = len(size)
            likeness = np.vstack((likeness, np.zeros_like(to_others)))
            size = np.append(size, 0)
        likeness[best] += to_others
        size[best] += 1
        groups.append(best)
    return groups


@dataclass(frozen=True)
class Occurrence:
    """A vector of a sentence: which of its parts it is, and how its words turn it."""

    part: str
    tokens: tuple[str, ...]
    influence: tuple[float, ...]
    """One number a token."""

    def shares(self) -> tuple[float, ...]:
        """The share of each token in all that turns the vector."""
        total = sum(self.influence) or 1.0
        return tuple(influence / total for influence in self.influence)

    def heaviest(self) -> str:
        """The word that turns the vector most; empty if none does."""
        most, token = max(zip(self.influence, self.tokens, strict=True), default=(0.0, ""))
        return token if most >= FIXED else ""


def group_things(vectors: Float[Tensor, "n d"], occurrences: Sequence[Occurrence]) -> list[int]:
    """The group of each vector: of one direction, but what different words tell apart is apart.

    The vectors of a direction that depend on one word are one thing. Two such things stay one
    where their middles are less than `WEAK` apart, as those of two words of one meaning are.
    """
    directions = group_by_direction(vectors)
    words = [occurrence.heaviest() for occurrence in occurrences]
    keys = list(zip(directions, words, strict=True))
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    label = torch.tensor([numbers[key] for key in keys], dtype=torch.int64)
    unit = normalize(vectors, dim=1)
    middles = unit.new_zeros(len(numbers), unit.shape[1]).index_add_(0, label, unit)
    merged = group_by_direction(middles, 1 - WEAK)
    return [merged[number] for number in label.tolist()]


def name_vectors(occurrences: Sequence[Occurrence], groups: Sequence[int]) -> list[Name]:
    """A name for each vector of a story.

    Args:
        occurrences: what is known of each vector.
        groups: the group of each, as `group_things` gives it.
    """
    labelled: dict[str, list[tuple[Occurrence, int]]] = {}
    for occurrence, group in zip(occurrences, groups, strict=True):
        labelled.setdefault(occurrence.part, []).append((occurrence, group))
    return [
        _name(occurrence, group, labelled[occurrence.part])
        for occurrence, group in zip(occurrences, groups, strict=True)
    ]


def _name(occurrence: Occurrence, own: int, rivals: Sequence[tuple[Occurrence, int]]) -> Name:
    """The words that weigh at least half as much as the heaviest one."""
    weights = list(occurrence.influence)
    if max(weights) < WEAK:
        group = [other for other, label in rivals if label == own]
        if max(weights) < FIXED or len(group) == len(rivals):
            return NAMELESS
        for index, token in enumerate(occurrence.tokens):
            here = sum(token in other.tokens for other in group)
            everywhere = sum(token in other.tokens for other, _ in rivals)
            weights[index] *= here / everywhere * here / len(group)
    chosen = [
        (token, weight)
        for token, weight in zip(occurrence.tokens, weights, strict=True)
        if weight >= max(weights) / 2 and token[0].isalnum()
    ]
    confidence = sum(weight for _, weight in chosen) / (sum(weights) or 1.0)
    if confidence < 0.5 or len(chosen) > WORDS:
        return NAMELESS
    return Name(" ".join(dict.fromkeys(token for token, _ in chosen)), confidence)


def common_name(names: Sequence[Name]) -> Name:
    """One name for a group: the words that its vectors' names share, or the names themselves."""
    confidence = sum(name.confidence for name in names) / len(names)
    if confidence < 0.5:
        return NAMELESS
    (first, most), *others = Counter(name.text for name in names if name.text).most_common()
    usual = [first, *(text for text, times in others if times >= most / RARE)]
    shared = [word for word in first.split() if all(word in text.split() for text in usual)]
    if shared:
        return Name(" ".join(shared), confidence)
    more = ["..."] if len(usual) > ALTERNATIVES else []
    return Name(" / ".join(usual[:ALTERNATIVES] + more), confidence)
