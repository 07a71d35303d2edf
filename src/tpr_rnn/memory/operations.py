"""Write, move and backlink as data (eq. 6, 9-14), and the state that they act on.

Axes, here and everywhere: b batch, t sentence (time), w word, v symbol, h hidden, e entity,
r relation, f filler (target entity), k key row (one for each operation of each sentence).

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


class Associations(NamedTuple):
    """What the sentences of a batch of stories say: two entities and three relations each."""

    e1: Float[Tensor, "b t e"]
    e2: Float[Tensor, "b t e"]
    r1: Float[Tensor, "b t r"]
    r2: Float[Tensor, "b t r"]
    r3: Float[Tensor, "b t r"]

    def sources(self, operations: tuple[Operation, ...]) -> Float[Tensor, "b t o e"]:
        """The source entity of each operation's key."""
        of = {"write": self.e1, "move": self.e1, "backlink": self.e2}
        return torch.stack([of[name] for name in operations], dim=2)

    def relations(self, operations: tuple[Operation, ...]) -> Float[Tensor, "b t o r"]:
        """The relation of each operation's key."""
        of = {"write": self.r1, "move": self.r2, "backlink": self.r3}
        return torch.stack([of[name] for name in operations], dim=2)

    def read_relations(self, operations: tuple[Operation, ...]) -> Float[Tensor, "b t o r"]:
        """The relation with which each operation reads what its change takes away.

        Move takes away m_hat - w_hat = F (e1, r2) - F (e1, r1), one read with r2 - r1.
        """
        of = {"write": self.r1, "move": self.r2 - self.r1, "backlink": self.r3}
        return torch.stack([of[name] for name in operations], dim=2)

    def contents(self, operations: tuple[Operation, ...]) -> Float[Tensor, "b t o e"]:
        """What each operation stores that is known before the memory is read."""
        of = {"write": self.e2, "move": torch.zeros_like(self.e1), "backlink": self.e1}
        return torch.stack([of[name] for name in operations], dim=2)


class DenseMemory(NamedTuple):
    """The memory F as the tensor that it is in the paper."""

    tensor: Float[Tensor, "b e r f"]

    @staticmethod
    def zero(associations: Associations) -> "DenseMemory":
        """F_0, empty, for a batch of stories."""
        batch, _, entity = associations.e1.shape
        return DenseMemory(
            associations.e1.new_zeros(batch, entity, associations.r1.shape[2], entity)
        )


class FactoredMemory(NamedTuple):
    """The same memory as the list of its changes: F = sum over k of source x relation x change."""

    source: Float[Tensor, "b k e"]
    relation: Float[Tensor, "b k r"]
    change: Float[Tensor, "b k f"]


Memory = DenseMemory | FactoredMemory


def read(
    memory: Memory, entity: Float[Tensor, "b *q e"], relation: Float[Tensor, "b *q r"]
) -> Float[Tensor, "b *q f"]:
    """Unbind: the filler that the memory holds for (entity, relation), as in eq. 9 and 17.

    One read for each story, or, with an axis more, several.
    """
    one = entity.dim() == 2
    if one:
        entity, relation = entity.unsqueeze(1), relation.unsqueeze(1)
    if isinstance(memory, DenseMemory):
        filler = torch.einsum("bqe,bqr,berf->bqf", entity, relation, memory.tensor)
    else:
        # Attention over the changes, weighted by how well each one's key agrees with ours.
        agreement = (entity @ memory.source.mT) * (relation @ memory.relation.mT)
        filler = agreement @ memory.change
    return filler.squeeze(1) if one else filler


def densify(memory: Memory) -> DenseMemory:
    """The memory as a tensor, whatever its kind."""
    if isinstance(memory, DenseMemory):
        return memory
    return DenseMemory(torch.einsum("bke,bkr,bkf->berf", *memory))


def mask_padding(associations: Associations, lengths: Int[Tensor, " b"] | None) -> Associations:
    """Silence the sentences behind each story's end.

    A zero source entity makes a zero key, so that nothing is read and nothing is written.
    """
    if lengths is None:
        return associations
    told = torch.arange(associations.e1.shape[1], device=lengths.device) < lengths.unsqueeze(1)
    e1, e2 = (torch.where(told.unsqueeze(2), e, 0.0) for e in associations[:2])
    return associations._replace(e1=e1, e2=e2)
