"""The memory itself, as the tensor that it is in the paper or as what was said and changed."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from tpr_rnn.memory.associations import Associations, KeyRows, key_rows
from tpr_rnn.memory.operations import Operation


class DenseMemory(NamedTuple):
    """The memory F as the tensor that it is in the paper."""

    tensor: Float[Tensor, "b e r f"]

    @staticmethod
    def zero(associations: Associations) -> "DenseMemory":
        """F_0, empty, for a batch of stories."""
        return DenseMemory(associations.table.new_zeros(associations.memory_shape))


class FactoredMemory(NamedTuple):
    """The same memory as what was said and what that changed: a sum over all key rows.

    F = sum over k of source_k x relation_k x change_k.
    """

    associations: Associations
    change: Float[Tensor, "b t o f"]
    operations: tuple[Operation, ...]
    lengths: Int[Tensor, " b"] | None = None
    """Sentences in each story; those behind the end have no change, and so no part in it."""

    def rows(self) -> KeyRows:
        """The key rows that it is the sum of."""
        return key_rows(self.associations.until(self.lengths), self.operations)


Memory = DenseMemory | FactoredMemory


def densify(memory: Memory) -> DenseMemory:
    """The memory as a tensor, whatever its kind."""
    if isinstance(memory, DenseMemory):
        return memory
    return DenseMemory(written(memory.rows(), memory.change.flatten(1, 2)))


def written(rows: KeyRows, change: Float[Tensor, "b k f"]) -> Float[Tensor, "b e r f"]:
    """What rows add to the memory: each its change, at its key."""
    keys = torch.einsum("bke,bkr->bker", rows.source, rows.relation)
    return torch.einsum("bker,bkf->berf", keys, change)
