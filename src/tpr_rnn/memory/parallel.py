"""The same memory, exactly, for all sentences at once: one triangular solve.

Every operation of eq. 9-14 is linear in the memory F, so F itself is never needed. Let row
k = (t, i) stand for operation i of sentence t, with its key (a_k, p_k), the relation q_k with
which it reads, its content c_k, and the change u_k that it makes. What a read finds is the sum
of all earlier changes, each weighted by how well its key agrees with the one that is read:

    u_k = c_k - F_0 (a_k, q_k) - sum over earlier j of (a_k . a_j) (q_k . p_j) u_j

That is (I + L) U = C - F_0 (A, Q) with L the Hadamard product of two Gram matrices, strictly
lower triangular in time: the operations of one sentence all read the memory before it. A query
after sentence t reads in the same way, with the rows of later sentences masked.
"""

from contextlib import nullcontext
from typing import overload

import torch
from jaxtyping import Float, Int
from torch import Tensor

from tpr_rnn.memory import native, plain
from tpr_rnn.memory.associations import Associations
from tpr_rnn.memory.checks import HALF, check_shapes, check_values
from tpr_rnn.memory.operations import OPERATIONS, Operation, check_operations
from tpr_rnn.memory.queries import Queries
from tpr_rnn.memory.states import DenseMemory, FactoredMemory, Memory, densify

CHUNK = 16
"""Sentences that a long story is solved at a time; measured, and flat around its best."""


@overload
def parallel(
    associations: Associations,
    *,
    operations: tuple[Operation, ...] = ...,
    lengths: Int[Tensor, " b"] | None = ...,
    state: Memory | None = ...,
    queries: None = ...,
    chunk: int | None = ...,
) -> tuple[Float[Tensor, "b t o f"], Memory]: ...


@overload
def parallel(
    associations: Associations,
    *,
    operations: tuple[Operation, ...] = ...,
    lengths: Int[Tensor, " b"] | None = ...,
    state: Memory | None = ...,
    queries: Queries,
    chunk: int | None = ...,
) -> tuple[Float[Tensor, "b t o f"], Memory, Float[Tensor, "q s f"]]: ...


def parallel(
    associations: Associations,
    *,
    operations: tuple[Operation, ...] = OPERATIONS,
    lengths: Int[Tensor, " b"] | None = None,
    state: Memory | None = None,
    queries: Queries | None = None,
    chunk: int | None = None,
) -> (
    tuple[Float[Tensor, "b t o f"], Memory]
    | tuple[Float[Tensor, "b t o f"], Memory, Float[Tensor, "q s f"]]
):
    """Update the memory with stories; the same results as `sequential`, in parallel.

    Half precision is computed in float32 and returned as it came, with or without autocast.

    Args:
        associations: what each sentence says.
        operations: the memory operations in use, in the paper's order.
        lengths: sentences in each story; those behind the end do not touch the memory.
        state: the memory before the first sentence; empty if None.
        queries: walks through the memory at positions of the stories.
        chunk: solve so many sentences at a time and carry a dense memory from chunk to chunk;
            None: each story whole while that is cheaper, else in chunks of a good size.

    Returns:
        The change that each operation made at its key (see `operations`); the final memory,
        factored if there was no state, dense if there was one; and, if there are queries, what
        each of their hops found.
    """
    made = _update(associations, operations, lengths, state, queries, chunk, changes=True)
    table = associations.table
    change = made.change.to(table.dtype)
    memory: Memory
    if made.state is None or state is None:
        memory = FactoredMemory(associations, change, check_operations(operations), lengths)
    else:
        dtype = (state.tensor if isinstance(state, DenseMemory) else state.change).dtype
        memory = DenseMemory(made.state.tensor.to(dtype))
    if made.found is None:
        return change, memory
    return change, memory, made.found.to(table.dtype)


def find(
    associations: Associations,
    *,
    operations: tuple[Operation, ...] = OPERATIONS,
    lengths: Int[Tensor, " b"] | None = None,
    queries: Queries,
) -> Float[Tensor, "q s f"]:
    """What each hop of each query finds: as `parallel`, but quicker where only that is wanted."""
    made = _update(associations, operations, lengths, None, queries, None, changes=False)
    assert made.found is not None
    return made.found.to(associations.table.dtype)


def _update(
    associations: Associations,
    operations: tuple[Operation, ...],
    lengths: Int[Tensor, " b"] | None,
    state: Memory | None,
    queries: Queries | None,
    chunk: int | None,
    *,
    changes: bool,
) -> plain.Update:
    """Check everything, and take the form that can serve."""
    operations = check_operations(operations)
    check_shapes(associations, lengths, state, queries)
    if chunk is not None and chunk < 1:
        raise ValueError(f"a chunk has 1 sentence or more, not {chunk}")
    if chunk is None:
        longest = longest_whole(associations.entity_size, associations.relation_size)
        pieces = plain.Pieces(longest, CHUNK)
    else:
        pieces = plain.Pieces(chunk, chunk)
    table = associations.table
    with _without_autocast(table.device.type):
        said = associations._replace(table=_full(table))
        before = None if state is None else DenseMemory(_full(densify(state).tensor))
        asked = queries and _full_queries(queries)
        if native.usable(said.table, operations):
            return native.update(said, operations, lengths, before, asked, pieces, changes=changes)
        check_values(associations, lengths, queries)
        return plain.update(said, operations, lengths, before, asked, pieces)


def longest_whole(entity_size: int, relation_size: int) -> int:
    """Up to how many sentences a story is solved whole, by the multiplications of either way.

    In a piece of c sentences each one is compared with 4.5 c pairs of rows, forward and backward;
    carrying the memory past it takes three reads, three writes and their gradients of E x R x E.
    """
    pair = 4.5 * (7 * entity_size + 4 * relation_size)
    carry = 18 * entity_size**2 * relation_size
    return CHUNK + int(carry / pair)


def _full(numbers: Tensor) -> Tensor:
    return numbers.float() if numbers.dtype in HALF else numbers


def _full_queries(queries: Queries) -> Queries:
    return queries._replace(
        table=_full(queries.table),
        scale=None if queries.scale is None else _full(queries.scale),
        shift=None if queries.shift is None else _full(queries.shift),
    )


def _without_autocast(device: str) -> torch.autocast | nullcontext[None]:
    """Autocast would turn the solve's matrix products into half precision again."""
    if torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device):
        return torch.autocast(device, enabled=False)
    return nullcontext()
