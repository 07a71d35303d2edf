"""The parallel form in plain PyTorch: any device, any derivative, any transform."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from tpr_rnn.memory.associations import Associations, KeyRows, key_rows
from tpr_rnn.memory.operations import Operation
from tpr_rnn.memory.queries import Queries, walk
from tpr_rnn.memory.reading import read
from tpr_rnn.memory.states import DenseMemory, written


class Update(NamedTuple):
    """What stories do to the memory, and what queries find in it."""

    change: Float[Tensor, "b t o f"]
    state: DenseMemory | None
    """The final memory, if there was one before the first sentence."""
    found: Float[Tensor, "q s f"] | None
    """What each hop of each query finds, if there are queries."""


class Pieces(NamedTuple):
    """How many sentences are solved at once."""

    longest_whole: int
    """Stories of up to so many sentences are solved whole."""
    chunk: int
    """Longer ones in chunks of so many."""


def update(
    associations: Associations,
    operations: tuple[Operation, ...],
    lengths: Int[Tensor, " b"] | None,
    state: DenseMemory | None,
    queries: Queries | None,
    pieces: Pieces,
) -> Update:
    """See `parallel`."""
    time = associations.story.shape[1]
    # While a graph is traced the number of pieces must not depend on the length.
    if torch.compiler.is_compiling() or time <= pieces.longest_whole:
        return _update_whole(associations.until(lengths), operations, state, queries)
    memory = DenseMemory.zero(associations) if state is None else state
    changes, asked, found = [], [], []
    if queries is not None:
        queries = queries._replace(story=queries.stories(associations.story.shape[0]))
        piece_of = (queries.position - 1).clamp(min=0) // pieces.chunk
    for start in range(0, time, pieces.chunk):
        part = associations.between(start, start + pieces.chunk)
        left = None if lengths is None else (lengths - start).clamp(0, part.story.shape[1])
        here = None
        if queries is not None:
            asked.append((piece_of == start // pieces.chunk).nonzero().squeeze(1))
            here = queries.chosen(asked[-1])
            here = here._replace(position=here.position - start)
        change, after, found_here = _update_whole(part.until(left), operations, memory, here)
        assert after is not None
        memory = after
        changes.append(change)
        if found_here is not None:
            found.append(found_here)
    # The queries, sorted by piece, go back to their places.
    in_order = torch.cat(found).index_select(0, torch.cat(asked).argsort()) if found else None
    return Update(torch.cat(changes, dim=1), None if state is None else memory, in_order)


def _update_whole(
    associations: Associations,
    operations: tuple[Operation, ...],
    state: DenseMemory | None,
    queries: Queries | None,
) -> Update:
    """One triangular solve for all sentences."""
    rows = key_rows(associations, operations)
    content = rows.content
    if state is not None:
        content = content - read(state, rows.source, rows.read_relation)
    lower = rows.agreement_with_earlier(len(operations))
    change: Tensor = torch.linalg.solve_triangular(lower, content, upper=False, unitriangular=True)
    shape = (*associations.story.shape, len(operations), associations.entity_size)
    return Update(
        torch.reshape(change, shape),
        None if state is None else DenseMemory(state.tensor + written(rows, change)),
        None if queries is None else _ask(queries, associations, operations, rows, change, state),
    )


def _ask(
    queries: Queries,
    associations: Associations,
    operations: tuple[Operation, ...],
    rows: KeyRows,
    change: Float[Tensor, "b k f"],
    state: DenseMemory | None,
) -> Float[Tensor, "q s f"]:
    """Walk: each hop is attention over the rows of the sentences that a query has seen."""
    if queries.story is not None:  # each query is the only one of its own copy of a story
        rows, change = rows.of_stories(queries.story), change.index_select(0, queries.story)
        state = state and DenseMemory(state.tensor.index_select(0, queries.story))
    each = (change.shape[0], queries.row.shape[0] // max(change.shape[0], 1))
    seen = rows.sentence(len(operations)) < queries.position.view(*each, 1)

    # What a query does not see may be infinite, and 0 times that is not 0.
    finite = change.isfinite()
    lost = (seen & ~finite.all(dim=2).unsqueeze(1)).any(dim=2, keepdim=True)
    change = change.where(finite, 0.0)

    def find(entity: Float[Tensor, "q e"], relation: Float[Tensor, "q r"]) -> Tensor:
        key = entity.unflatten(0, each), relation.unflatten(0, each)
        found = rows.agreement(*key).where(seen, 0.0) @ change
        found = found.masked_fill(lost, torch.nan)
        if state is not None:
            found = found + read(state, *key)
        return found.flatten(0, 1)

    return walk(queries, associations, find)
