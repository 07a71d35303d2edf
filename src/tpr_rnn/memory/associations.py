"""What sentences say, and the key rows of the operations that they are made into.

Axes, here and everywhere: b batch, t sentence (time), w word, v symbol, h hidden, e entity,
r relation, f filler (target entity), o operation, k key row (an operation of a sentence), q query,
s hop (inference step).
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import embedding

from tpr_rnn.memory.operations import ENTITIES, RELATIONS, SPECS, Combination, Operation


class Parts(NamedTuple):
    """What sentences say: a source and a target entity, and three relations."""

    e1: Float[Tensor, "b t e"]
    e2: Float[Tensor, "b t e"]
    r1: Float[Tensor, "b t r"]
    r2: Float[Tensor, "b t r"]
    r3: Float[Tensor, "b t r"]


class Associations(NamedTuple):
    """What the sentences of stories say: a table of sentences, and stories as rows of it.

    Sentences that stand in several places of several stories need to be in the table only once.
    """

    table: Float[Tensor, "u d"]
    """A sentence a row, its parts e1, e2, r1, r2, r3 side by side: d = 2 e + 3 r."""
    story: Int[Tensor, "b t"]
    entity_size: int

    @staticmethod
    def of(
        *,
        e1: Float[Tensor, "b t e"],
        e2: Float[Tensor, "b t e"],
        r1: Float[Tensor, "b t r"],
        r2: Float[Tensor, "b t r"],
        r3: Float[Tensor, "b t r"],
    ) -> "Associations":
        """Put the parts of sentences together, each in its own row of the table."""
        alike = e1.shape == e2.shape and r1.shape == r2.shape == r3.shape
        if not (alike and e1.dim() == r1.dim() == 3 and e1.shape[:2] == r1.shape[:2]):
            shapes = ", ".join(str(tuple(part.shape)) for part in (e1, e2, r1, r2, r3))
            raise ValueError(
                "entities are (stories, sentences, entity size) and relations (stories, sentences, "
                f"relation size), all of the same stories, not {shapes}"
            )
        return Associations._of_sentences(torch.cat((e1, e2, r1, r2, r3), dim=2), e1.shape[2])

    @staticmethod
    def _of_sentences(said: Float[Tensor, "b t d"], entity_size: int) -> "Associations":
        batch, time, _ = said.shape
        story = torch.arange(batch * time, device=said.device).view(batch, time)
        return Associations(said.flatten(0, 1), story, entity_size)

    @property
    def relation_size(self) -> int:
        """Dimension of the relations."""
        return (self.table.shape[1] - len(ENTITIES) * self.entity_size) // len(RELATIONS)

    @property
    def memory_shape(self) -> tuple[int, int, int, int]:
        """The axes b e r f of a memory of these stories."""
        return self.story.shape[0], self.entity_size, self.relation_size, self.entity_size

    def said(self) -> Float[Tensor, "b t d"]:
        """What each sentence of each story says."""
        # embedding, not indexing: its backward pass is deterministic with any number of threads.
        return embedding(self.story, self.table)

    def parts(self) -> Parts:
        """The same, taken apart by the paper's names."""
        sizes = [self.entity_size] * len(ENTITIES) + [self.relation_size] * len(RELATIONS)
        return Parts(*self.said().split(sizes, dim=2))

    def between(self, start: int, end: int) -> "Associations":
        """Those of some of the sentences."""
        return self._replace(story=self.story[:, start:end])

    def until(self, lengths: Int[Tensor, " b"] | None) -> "Associations":
        """Silence the sentences behind each story's end.

        A zero source entity makes a zero key, so that nothing is read and nothing is written.
        """
        if lengths is None:
            return self
        told = torch.arange(self.story.shape[1], device=lengths.device) < lengths.unsqueeze(1)
        said = torch.where(told.unsqueeze(2), self.said(), 0.0)
        return Associations._of_sentences(said, self.entity_size)


class KeyRows(NamedTuple):
    """The rows of the operations in use: a key each, how it reads, and what it stores."""

    source: Float[Tensor, "b k e"]
    relation: Float[Tensor, "b k r"]
    read_relation: Float[Tensor, "b k r"]
    content: Float[Tensor, "b k e"]

    def agreement(
        self, entity: Float[Tensor, "b q e"], relation: Float[Tensor, "b q r"]
    ) -> Float[Tensor, "b q k"]:
        """How well each row's key agrees with others: the product of two inner products."""
        return (entity @ self.source.mT) * (relation @ self.relation.mT)

    def sentence(self, operations: int) -> Int[Tensor, " k"]:
        """The sentence of each row, where a sentence has so many operations."""
        return torch.arange(self.source.shape[1], device=self.source.device) // operations

    def agreement_with_earlier(self, operations: int) -> Float[Tensor, "b k k"]:
        """L: how much of each earlier sentence's change a row reads."""
        sentence = self.sentence(operations)
        agreement = self.agreement(self.source, self.read_relation)
        return agreement * (sentence < sentence.unsqueeze(1))

    def of_stories(self, story: Int[Tensor, " q"]) -> "KeyRows":
        """The rows of some stories, each as often as it is named."""
        return KeyRows(*(rows.index_select(0, story) for rows in self))


def key_rows(associations: Associations, operations: tuple[Operation, ...]) -> KeyRows:
    """Lay out the operations of each sentence as rows, sentence by sentence."""
    said = associations.parts()._asdict()
    columns: tuple[list[Tensor], ...] = ([], [], [], [])
    for spec in (SPECS[name] for name in operations):
        combinations = ({spec.source: 1.0}, spec.relation, spec.read, spec.content)
        for column, combination, like in zip(
            columns, combinations, ("e1", "r1", "r1", "e1"), strict=True
        ):
            column.append(_sum(combination, said, like=said[like]))
    return KeyRows(*(torch.stack(column, dim=2).flatten(1, 2) for column in columns))


def retrieved(
    said: Parts, changes: Float[Tensor, "b t o f"], operations: tuple[Operation, ...]
) -> dict[str, Float[Tensor, "b t f"]]:
    """w_hat, m_hat and b_hat: what each operation found at its key, from the change it made."""
    found: dict[str, Tensor] = {}
    for name, change in zip(operations, changes.unbind(dim=2), strict=True):
        spec = SPECS[name]
        found[spec.found] = _sum(spec.stored, said._asdict() | found, like=change) - change
    return found


def _sum(combination: Combination, vectors: dict[str, Tensor], like: Tensor) -> Tensor:
    """The sum that a combination of named vectors stands for."""
    total = None
    for name, factor in combination.items():
        term = vectors[name] if factor == 1 else factor * vectors[name]
        total = term if total is None else total + term
    return torch.zeros_like(like) if total is None else total
