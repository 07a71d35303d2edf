"""The same memory, exactly, for all sentences at once: one triangular solve.

Every operation of eq. 9-14 is linear in the memory F, so F itself is never needed. Let row
k = (t, i) stand for operation i of sentence t, with its key (a_k, p_k), the relation q_k with
which it reads, its content c_k, and the change u_k that it makes. What a read finds is the sum
of all earlier changes, each weighted by how well its key agrees with the one that is read:

    u_k = c_k - F_0 (a_k, q_k) - sum over earlier j of (a_k . a_j) (q_k . p_j) u_j

That is (I + L) U = C - F_0 (A, Q) with L the Hadamard product of two Gram matrices, strictly
lower triangular in time: the operations of one sentence all read the memory before it.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from tpr_rnn.memory import native
from tpr_rnn.memory.operations import (
    OPERATIONS,
    Associations,
    DenseMemory,
    FactoredMemory,
    Memory,
    Operation,
    densify,
    join,
    key_rows,
)
from tpr_rnn.memory.reading import read


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
    if chunk is None:
        return _tell(associations, operations, lengths, state)
    memory: Memory = DenseMemory.zero(associations) if state is None else densify(state)
    changes = []
    # One empty piece for a story of no sentences, so that there is always something to join.
    for start in range(0, max(associations.story.shape[1], 1), chunk):
        piece = associations.between(start, start + chunk)
        left = None if lengths is None else (lengths - start).clamp(0, piece.story.shape[1])
        change, memory = _tell(piece, operations, left, memory)
        changes.append(change)
    return torch.cat(changes, dim=1), memory


def _tell(
    associations: Associations,
    operations: tuple[Operation, ...],
    lengths: Int[Tensor, " b"] | None,
    state: Memory | None,
) -> tuple[Float[Tensor, "b t o f"], Memory]:
    """One piece of a story, solved at once."""
    found = None
    if state is not None:
        rows = key_rows(associations.until(lengths), operations)
        found = read(state, rows.source, rows.read_relation).unflatten(1, (-1, len(operations)))
    solve = native.tell if native.usable(associations.table) else solve_triangular
    change = solve(associations, found, operations, lengths)
    told = FactoredMemory(associations, change, operations, lengths)
    if state is None:
        return change, told
    if isinstance(state, DenseMemory):
        return change, DenseMemory(state.tensor + densify(told).tensor)
    if state.operations != operations:
        raise ValueError(f"the state was made with {state.operations}, not with {operations}")
    return change, join(state, told)


def solve_triangular(
    associations: Associations,
    found: Float[Tensor, "b t o e"] | None,
    operations: tuple[Operation, ...],
    lengths: Int[Tensor, " b"] | None,
) -> Float[Tensor, "b t o f"]:
    """The changes that each operation makes, in plain PyTorch; see `native.tell`."""
    rows = key_rows(associations.until(lengths), operations)
    content = rows.content if found is None else rows.content - found.flatten(1, 2)
    agreement = (rows.source @ rows.source.mT) * (rows.read_relation @ rows.relation.mT)
    lower = agreement * _earlier(associations, len(operations))
    change: Tensor = torch.linalg.solve_triangular(lower, content, upper=False, unitriangular=True)
    shape = (*associations.story.shape, len(operations), associations.entity_size)
    return torch.reshape(change, shape)


def _earlier(associations: Associations, operations: int) -> Float[Tensor, "k k"]:
    """1 where the column's sentence comes before the row's, else 0."""
    table, story, _ = associations
    sentence = torch.arange(story.shape[1], device=story.device).repeat_interleave(operations)
    return (sentence < sentence.unsqueeze(1)).to(table.dtype)
