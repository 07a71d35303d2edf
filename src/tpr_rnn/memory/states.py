"""The memory itself, as the tensor that it is in the paper or as what was said and changed."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from tpr_rnn.memory.associations import Associations, key_rows
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
