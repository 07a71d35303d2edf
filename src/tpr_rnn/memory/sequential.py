"""The memory one sentence at a time, equation by equation: the oracle for every faster form."""

from functools import partial
from typing import overload

import torch
from jaxtyping import Float, Int
from torch import Tensor

from tpr_rnn.memory.associations import Associations
from tpr_rnn.memory.checks import check_shapes, check_values
from tpr_rnn.memory.operations import OPERATIONS, Operation, check_operations
from tpr_rnn.memory.queries import Queries, walk
from tpr_rnn.memory.states import DenseMemory, Memory, densify


@overload
def sequential(
    associations: Associations,
    *,
    operations: tuple[Operation, ...] = ...,
    lengths: Int[Tensor, " b"] | None = ...,
    state: Memory | None = ...,
    queries: None = ...,
) -> tuple[Float[Tensor, "b t o f"], DenseMemory]: ...


@overload
def sequential(
    associations: Associations,
    *,
    operations: tuple[Operation, ...] = ...,
    lengths: Int[Tensor, " b"] | None = ...,
    state: Memory | None = ...,
    queries: Queries,
) -> tuple[Float[Tensor, "b t o f"], DenseMemory, Float[Tensor, "q s f"]]: ...


def sequential(
    associations: Associations,
    *,
    operations: tuple[Operation, ...] = OPERATIONS,
    lengths: Int[Tensor, " b"] | None = None,
    state: Memory | None = None,
    queries: Queries | None = None,
) -> (
    tuple[Float[Tensor, "b t o f"], DenseMemory]
    | tuple[Float[Tensor, "b t o f"], DenseMemory, Float[Tensor, "q s f"]]
):
    """Update the memory with stories, sentence by sentence.

    Args:
        associations: what each sentence says.
        operations: the memory operations in use, in the paper's order.
        lengths: sentences in each story; those behind the end do not touch the memory.
        state: the memory before the first sentence; empty if None.
        queries: walks through the memory at positions of the stories.

    Returns:
        The change that each operation made at its key (see `operations`); the final memory; and,
        if there are queries, what each of their hops found.
    """
    operations = check_operations(operations)
    check_shapes(associations, lengths, state, queries)
    check_values(associations, lengths, queries)
    associations = associations.until(lengths)
    memory = (DenseMemory.zero(associations) if state is None else densify(state)).tensor
    memories, changes = [memory], []
    parts = associations.parts()
    for t in range(associations.story.shape[1]):
        e1, e2, r1, r2, r3 = (vectors[:, t] for vectors in parts)
        step, update = [], torch.zeros_like(memory)
        if "write" in operations:
            w_hat = _retrieve(memory, e1, r1)  # eq. 9
            step.append(e2 - w_hat)
            update = update - _bind(e1, r1, w_hat) + _bind(e1, r1, e2)  # eq. 10
        if "move" in operations:
            m_hat = _retrieve(memory, e1, r2)  # eq. 11
            step.append(w_hat - m_hat)
            update = update - _bind(e1, r2, m_hat) + _bind(e1, r2, w_hat)  # eq. 12
        if "backlink" in operations:
            b_hat = _retrieve(memory, e2, r3)  # eq. 13
            step.append(e1 - b_hat)
            update = update - _bind(e2, r3, b_hat) + _bind(e2, r3, e1)  # eq. 14
        if "swap" in operations:
            s_hat = _retrieve(memory, e1, r1 - r2)
            step.append(-s_hat)
            update = update - _bind(e1, r1 - r2, s_hat)
        memory = memory + update  # eq. 4 and 6
        memories.append(memory)
        changes.append(torch.stack(step, dim=1))
    empty = memory.new_zeros(len(memory), 0, len(operations), associations.entity_size)
    change = torch.stack(changes, dim=1) if changes else empty
    if queries is None:
        return change, DenseMemory(memory)
    seen = torch.stack(memories)[queries.position.long(), queries.stories(len(memory)).long()]
    found = walk(queries, associations, partial(_retrieve, seen))  # eq. 17-19
    return change, DenseMemory(memory), found


def _retrieve(
    memory: Float[Tensor, "b e r f"], entity: Float[Tensor, "b e"], relation: Float[Tensor, "b r"]
) -> Float[Tensor, "b f"]:
    return torch.einsum("be,br,berf->bf", entity, relation, memory)


def _bind(
    entity: Float[Tensor, "b e"], relation: Float[Tensor, "b r"], filler: Float[Tensor, "b f"]
) -> Float[Tensor, "b e r f"]:
    return torch.einsum("be,br,bf->berf", entity, relation, filler)
