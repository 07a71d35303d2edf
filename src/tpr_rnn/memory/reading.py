"""Reads: what the memory holds for an entity and a relation (eq. 9, 11, 13, 17-19)."""

import torch
from jaxtyping import Float
from torch import Tensor

from tpr_rnn.memory.associations import key_rows
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
    rows = key_rows(memory.associations, memory.operations)
    return (entity @ rows.source.mT) * (relation @ rows.relation.mT)
