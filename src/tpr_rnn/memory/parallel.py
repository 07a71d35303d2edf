"""The same memory, exactly, for all sentences at once: one triangular solve.

Every operation of eq. 9-14 is linear in the memory F, so F itself is never needed. Let row
k = (t, i) stand for operation i of sentence t, with its key (a_k, p_k), the relation p'_k with
which it reads, its content c_k, and the change u_k that it makes. What a read finds is the sum
of all earlier changes, each weighted by how well its key agrees with the one that is read:

    u_k = c_k - F_0 (a_k, p'_k) - sum over earlier j of (a_k . a_j) (p'_k . p_j) u_j

That is (I + L) U = C - F_0 (A, P') with L the Hadamard product of two Gram matrices, strictly
lower triangular in time: the operations of one sentence all read the memory before it.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from tpr_rnn.memory.operations import (
    OPERATIONS,
    Associations,
    DenseMemory,
    FactoredMemory,
    Memory,
    Operation,
    densify,
    mask_padding,
    read,
)


def parallel(
    associations: Associations,
    *,
    operations: tuple[Operation, ...] = OPERATIONS,
    lengths: Int[Tensor, " b"] | None = None,
    state: Memory | None = None,
    chunk: int | None = None,
) -> tuple[Float[Tensor, "b t o f"], Memory]:
    """Tell stories to the memory; the same results as `sequential`, in parallel.

    Args:
        associations: what each sentence says.
        operations: the memory operations in use, in the paper's order.
        lengths: sentences in each story; those behind the end do not touch the memory.
        state: the memory before the first sentence; empty if None.
        chunk: solve so many sentences at a time and carry a dense memory from chunk to chunk,
            for long stories; None solves the whole story at once.

    Returns:
        The change that each operation made at its key (see `operations`), and the final memory:
        of the kind of `state`, factored if that is None, and dense if there was a `chunk`.
    """
    associations = mask_padding(associations, lengths)
    if chunk is None:
        return _solve(associations, operations, state)
    memory: Memory = DenseMemory.zero(associations) if state is None else densify(state)
    changes = []
    # One empty piece for a story of no sentences, so that there is always something to join.
    for start in range(0, max(associations.e1.shape[1], 1), chunk):
        piece = Associations(*(vectors[:, start : start + chunk] for vectors in associations))
        change, memory = _solve(piece, operations, memory)
        changes.append(change)
    return torch.cat(changes, dim=1), memory


def _solve(
    associations: Associations, operations: tuple[Operation, ...], state: Memory | None
) -> tuple[Float[Tensor, "b t o f"], Memory]:
    source = associations.sources(operations).flatten(1, 2)
    relation = associations.relations(operations).flatten(1, 2)
    read_relation = associations.read_relations(operations).flatten(1, 2)
    content = associations.contents(operations).flatten(1, 2)
    if state is not None:
        content = content - read(state, source, read_relation)

    agreement = (source @ source.mT) * (read_relation @ relation.mT)
    lower = agreement * _earlier(associations.e1, len(operations))
    change = torch.linalg.solve_triangular(lower, content, upper=False, unitriangular=True)

    told = FactoredMemory(source, relation, change)
    memory: Memory
    if state is None:
        memory = told
    elif isinstance(state, DenseMemory):
        memory = DenseMemory(state.tensor + densify(told).tensor)
    else:
        memory = FactoredMemory(
            *(torch.cat(parts, dim=1) for parts in zip(state, told, strict=True))
        )
    return change.unflatten(1, (-1, len(operations))), memory


def _earlier(like: Float[Tensor, "b t e"], operations: int) -> Float[Tensor, "k k"]:
    """1 where the column's sentence comes before the row's, else 0."""
    sentence = torch.arange(like.shape[1], device=like.device).repeat_interleave(operations)
    return (sentence < sentence.unsqueeze(1)).to(like.dtype)
