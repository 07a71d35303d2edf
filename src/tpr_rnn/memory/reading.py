"""Reads: what the memory holds for an entity and a relation (eq. 9, 11, 13, 17-19)."""

import torch
from jaxtyping import Float
from torch import Tensor

from tpr_rnn.memory.associations import KeyRows
from tpr_rnn.memory.states import DenseMemory, FactoredMemory, Memory


def read(
    memory: Memory, entity: Float[Tensor, "b *q e"], relation: Float[Tensor, "b *q r"]
) -> Float[Tensor, "b *q f"]:
    """Unbind: the filler that the memory holds for (entity, relation).

    One read for each story or, with an axis more, several.
    """
    if isinstance(memory, DenseMemory):
        keys = torch.einsum("b...e,b...r->b...er", entity, relation)
        return torch.einsum("b...er,berf->b...f", keys, memory.tensor)
    if entity.dim() == 2:
        return read(memory, entity.unsqueeze(1), relation.unsqueeze(1)).squeeze(1)
    return row_weights(memory, entity, relation) @ memory.change.flatten(1, 2)


def row_weights(
    memory: FactoredMemory, entity: Float[Tensor, "b q e"], relation: Float[Tensor, "b q r"]
) -> Float[Tensor, "b q k"]:
    """How much of each row's change a read finds: how well the row's key agrees with ours."""
    return memory.rows().agreement(entity, relation)


def content_weights(
    memory: FactoredMemory, weights: Float[Tensor, "b q k"]
) -> Float[Tensor, "b q k"]:
    """What was told that a read finds: the weight of each row's content in it.

    With U = (I + L)^-1 C, a weighing a of the changes is one of the contents, a (I + L)^-1. The
    content of a row is an entity as a sentence told it (none for move, which only passes on), so
    this looks through every later overwriting and moving. Only for a memory that was empty
    before the first sentence, and stories without padding.

    Args:
        memory: the memory after the story.
        weights: what the reads take of each row's change, as `row_weights` gives it.
    """
    return told_weights(memory.rows(), len(memory.operations), weights)


def told_weights(
    rows: KeyRows, operations: int, weights: Float[Tensor, "b q k"]
) -> Float[Tensor, "b q k"]:
    """Weights of what rows changed as weights of what they stored: a (I + L)^-1.

    This is the exact attention of a read over what was told: a change is what is stored minus what
    was there, and what was there is other changes.
    """
    upper = rows.agreement_with_earlier(operations).mT
    found: Tensor = torch.linalg.solve_triangular(upper, weights.mT, upper=True, unitriangular=True)
    return found.mT
