"""Write, move and backlink as data (eq. 6, 9-14), and the state that they act on.

Axes, here and everywhere: b batch, t sentence (time), w word, v symbol, h hidden, e entity,
r relation, f filler (target entity), o operation, k key row (an operation of a sentence).

All three operations have one shape. At its *key*, the pair (source entity, relation), an
operation adds a *change* to the memory: the content it stores minus what it found there.

    operation   key        change added at the key
    write       (e1, r1)   u1 = e2 - w_hat       w_hat = F (e1, r1)    eq. 9, 10
    move        (e1, r2)   u2 = w_hat - m_hat    m_hat = F (e1, r2)    eq. 11, 12
    backlink    (e2, r3)   u3 = e1 - b_hat       b_hat = F (e2, r3)    eq. 13, 14
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import embedding

from tpr_rnn.errors import UserError

Operation = Literal["write", "move", "backlink"]
OPERATIONS: tuple[Operation, ...] = ("write", "move", "backlink")


def check_operations(names: Iterable[str]) -> tuple[Operation, ...]:
    """Return the operations in the paper's order; unknown or contradictory ones are errors."""
    wanted = list(names)
    for name in wanted:
        if name not in OPERATIONS:
            raise UserError(f"unknown memory operation '{name}'; there are {', '.join(OPERATIONS)}")
    if len(set(wanted)) != len(wanted):
        raise UserError(f"a memory operation is named twice in '{','.join(wanted)}'")
    if not wanted:
        raise UserError("a memory needs at least one operation: write or backlink")
    if "move" in wanted and "write" not in wanted:
        raise UserError("move needs write: it stores what write has found (eq. 12)")
    return cast(tuple[Operation, ...], tuple(name for name in OPERATIONS if name in wanted))


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
        return (self.table.shape[1] - 2 * self.entity_size) // 3

    @property
    def memory_shape(self) -> tuple[int, int, int, int]:
        """The axes b e r f of a memory of these stories."""
        return len(self.story), self.entity_size, self.relation_size, self.entity_size

    def said(self) -> Float[Tensor, "b t d"]:
        """What each sentence of each story says."""
        # embedding, not indexing: its backward pass is deterministic with any number of threads.
        return embedding(self.story, self.table)

    def parts(self) -> Parts:
        """The same, taken apart by the paper's names."""
        e, r = self.entity_size, self.relation_size
        return Parts(*self.said().split((e, e, r, r, r), dim=2))

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


def key_rows(associations: Associations, operations: tuple[Operation, ...]) -> KeyRows:
    """Lay out the operations of each sentence as rows, sentence by sentence.

    What a row's change takes away is one read: move takes away m_hat - w_hat, which is
    F (e1, r2) - F (e1, r1) = F (e1, r2 - r1).
    """
    e1, e2, r1, r2, r3 = associations.parts()
    row_of = {
        "write": (e1, r1, r1, e2),
        "move": (e1, r2, r2 - r1, torch.zeros_like(e1)),
        "backlink": (e2, r3, r3, e1),
    }
    columns = zip(*(row_of[name] for name in operations), strict=True)
    return KeyRows(*(torch.stack(column, dim=2).flatten(1, 2) for column in columns))


def retrieved(
    said: Parts, changes: Float[Tensor, "b t o f"], operations: tuple[Operation, ...]
) -> dict[str, Float[Tensor, "b t f"]]:
    """w_hat, m_hat and b_hat: what each operation found at its key, from the change it made."""
    change = dict(zip(operations, changes.unbind(dim=2), strict=True))
    found = {}
    if "write" in change:
        found["w_hat"] = said.e2 - change["write"]
    if "move" in change:
        found["m_hat"] = found["w_hat"] - change["move"]
    if "backlink" in change:
        found["b_hat"] = said.e1 - change["backlink"]
    return found


class DenseMemory(NamedTuple):
    """The memory F as the tensor that it is in the paper."""

    tensor: Float[Tensor, "b e r f"]

    @staticmethod
    def zero(associations: Associations) -> "DenseMemory":
        """F_0, empty, for a batch of stories."""
        return DenseMemory(associations.table.new_zeros(associations.memory_shape))


class FactoredMemory(NamedTuple):
    """The same memory as what was said and what that changed: a sum over all key rows.

    F = sum over k of source_k x relation_k x change_k. Sentences behind a story's end have no
    change, and so no part in it.
    """

    associations: Associations
    change: Float[Tensor, "b t o f"]
    operations: tuple[Operation, ...]


Memory = DenseMemory | FactoredMemory


def check_state(state: Memory, associations: Associations) -> None:
    """Refuse a memory that does not go with what is told: of other stories, sizes or numbers."""
    if isinstance(state, DenseMemory):
        there, numbers = tuple(state.tensor.shape), state.tensor
    else:
        there, numbers = state.associations.memory_shape, state.change
    wanted = associations.memory_shape
    if there != wanted:
        raise ValueError(
            f"the state is of shape {there}, but these stories need {wanted}: "
            "stories, entity size, relation size, entity size"
        )
    if numbers.dtype != associations.table.dtype:
        raise ValueError(f"the state is {numbers.dtype}, the stories {associations.table.dtype}")


def densify(memory: Memory) -> DenseMemory:
    """The memory as a tensor, whatever its kind."""
    if isinstance(memory, DenseMemory):
        return memory
    rows = key_rows(memory.associations, memory.operations)
    keys = torch.einsum("bke,bkr->bker", rows.source, rows.relation)
    return DenseMemory(torch.einsum("bker,bkf->berf", keys, memory.change.flatten(1, 2)))


def join(first: FactoredMemory, second: FactoredMemory) -> FactoredMemory:
    """The memory of a story told in two pieces."""
    before, after = first.associations, second.associations
    table = torch.cat((before.table, after.table))
    story = torch.cat((before.story, after.story + len(before.table)), dim=1)
    change = torch.cat((first.change, second.change), dim=1)
    return FactoredMemory(Associations(table, story, after.entity_size), change, second.operations)
