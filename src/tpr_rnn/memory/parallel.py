"""The same memory, exactly, for all sentences at once: one triangular solve.

Every operation of eq. 9-14 is linear in the memory F, so F itself is never needed. Let row
k = (t, i) stand for operation i of sentence t, with its key (a_k, p_k), the relation q_k with
which it reads, its content c_k, and the change u_k that it makes. What a read finds is the sum
of all earlier changes, each weighted by how well its key agrees with the one that is read:

    u_k = c_k - F_0 (a_k, q_k) - sum over earlier j of (a_k . a_j) (q_k . p_j) u_j

That is (I + L) U = C - F_0 (A, Q) with L the Hadamard product of two Gram matrices, strictly
lower triangular in time: the operations of one sentence all read the memory before it.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from tpr_rnn.memory import native
from tpr_rnn.memory.associations import Associations, KeyRows, key_rows
from tpr_rnn.memory.operations import OPERATIONS, Operation, check_operations
from tpr_rnn.memory.reading import read
from tpr_rnn.memory.states import (
    DenseMemory,
    FactoredMemory,
    Memory,
    check_state,
    densify,
    join,
)

CHUNK = 16
"""Sentences that a long story is told at a time; measured, and flat around its best."""


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
        chunk: solve so many sentences at a time and carry a dense memory from chunk to chunk;
            None: the whole story at once while that is cheaper, else chunks of a good size.

    Returns:
        The change that each operation made at its key (see `operations`), and the final memory:
        dense if it was dense before or went in chunks, else factored.
    """
    operations = check_operations(operations)
    if state is not None:
        check_state(state, associations)
    if chunk is not None and chunk < 1:
        raise ValueError(f"a chunk has 1 sentence or more, not {chunk}")
    time = associations.story.shape[1]
    if chunk is None:
        chunk = _chunk_of(associations, lengths)
    if isinstance(state, DenseMemory) or chunk < time:
        memory = DenseMemory.zero(associations) if state is None else densify(state)
        return _update_chunks(associations, operations, lengths, memory, max(chunk, 1))
    found = None
    if state is not None:
        if state.operations != operations:
            raise ValueError(f"the state was made with {state.operations}, not with {operations}")
        rows = key_rows(associations.until(lengths), operations)
        found = read(state, rows.source, rows.read_relation).unflatten(1, (-1, len(operations)))
    solve = native.update if native.usable(associations.table) else solve_triangular
    change = solve(associations, found, operations, lengths)
    told = FactoredMemory(associations.until(lengths), change, operations)
    return change, told if state is None else join(state, told)


def is_whole(associations: Associations, lengths: Int[Tensor, " b"] | None) -> bool:
    """Whether `parallel` would solve such stories whole, if it is not told how."""
    return _chunk_of(associations, lengths) >= associations.story.shape[1]


def _chunk_of(associations: Associations, lengths: Int[Tensor, " b"] | None) -> int:
    told = [associations.story.shape[1]] if lengths is None else lengths.tolist()
    return best_chunk(told, associations.entity_size, associations.relation_size)


def best_chunk(lengths: Sequence[int], entity_size: int, relation_size: int) -> int:
    """How many sentences of such stories to solve at once, by the multiplications of either way.

    In a chunk of c sentences each one is compared with 4.5 c pairs of rows, forward and backward;
    carrying the memory past it takes three reads, three writes and their gradients of E x R x E.
    """
    pair = 4.5 * (7 * entity_size + 4 * relation_size)
    carry = 18 * entity_size**2 * relation_size
    whole = sum(length * length * pair for length in lengths)
    chunks = sum(length * (min(length, CHUNK) * pair + carry) for length in lengths)
    return max(lengths, default=0) if whole <= chunks else CHUNK


def _update_chunks(
    associations: Associations,
    operations: tuple[Operation, ...],
    lengths: Int[Tensor, " b"] | None,
    memory: DenseMemory,
    chunk: int,
) -> tuple[Float[Tensor, "b t o f"], Memory]:
    """Tell stories in chunks, carrying a dense memory."""
    if native.usable(associations.table):
        return native.update_chunks(associations, memory, operations, lengths, chunk)
    changes = []
    # One empty piece for a story of no sentences, so that there is always something to join.
    for start in range(0, max(associations.story.shape[1], 1), chunk):
        piece = associations.between(start, start + chunk)
        left = None if lengths is None else (lengths - start).clamp(0, piece.story.shape[1])
        piece = piece.until(left)
        rows = key_rows(piece, operations)
        found = read(memory, rows.source, rows.read_relation).unflatten(1, (-1, len(operations)))
        changes.append(solve_triangular(piece, found, operations, None))
        told = densify(FactoredMemory(piece, changes[-1], operations))
        memory = DenseMemory(memory.tensor + told.tensor)
    return torch.cat(changes, dim=1), memory


def solve_triangular(
    associations: Associations,
    found: Float[Tensor, "b t o e"] | None,
    operations: tuple[Operation, ...],
    lengths: Int[Tensor, " b"] | None,
) -> Float[Tensor, "b t o f"]:
    """The changes that each operation makes, in plain PyTorch; see `native.update`."""
    rows = key_rows(associations.until(lengths), operations)
    content = rows.content if found is None else rows.content - found.flatten(1, 2)
    lower = _agreement_with_earlier(rows, len(operations))
    change: Tensor = torch.linalg.solve_triangular(lower, content, upper=False, unitriangular=True)
    shape = (*associations.story.shape, len(operations), associations.entity_size)
    return torch.reshape(change, shape)


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
    rows = key_rows(memory.associations, memory.operations)
    upper = _agreement_with_earlier(rows, len(memory.operations)).mT
    found: Tensor = torch.linalg.solve_triangular(upper, weights.mT, upper=True, unitriangular=True)
    return found.mT


def _agreement_with_earlier(rows: KeyRows, operations: int) -> Float[Tensor, "b k k"]:
    """L: how much of each earlier sentence's change a row reads."""
    agreement = (rows.source @ rows.source.mT) * (rows.read_relation @ rows.relation.mT)
    sentence = torch.arange(rows.source.shape[1], device=agreement.device) // operations
    return agreement * (sentence < sentence.unsqueeze(1))
