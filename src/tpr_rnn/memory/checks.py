"""Refuse, in plain words, what does not go together."""

import torch
from jaxtyping import Int
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor

from tpr_rnn.memory.associations import Associations
from tpr_rnn.memory.queries import Queries
from tpr_rnn.memory.states import DenseMemory, Memory

HALF = (torch.float16, torch.bfloat16)


def full_precision(dtype: torch.dtype) -> torch.dtype:
    """The numbers that are computed with, for those that are given."""
    return torch.float32 if dtype in HALF else dtype


def check_shapes(
    associations: Associations,
    lengths: Int[Tensor, " b"] | None,
    state: Memory | None,
    queries: Queries | None,
) -> None:
    """Refuse states and queries of other stories, sizes or numbers."""
    batch = associations.story.shape[0]
    if lengths is not None and lengths.shape != (batch,):
        raise ValueError(f"there are {batch} stories and {len(lengths)} lengths")
    if state is not None:
        _check_state(state, associations)
    if queries is not None:
        _check_queries(queries, associations)


def _check_state(state: Memory, associations: Associations) -> None:
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
    _check_numbers("the state is", numbers, associations)


def _check_queries(queries: Queries, associations: Associations) -> None:
    hops = queries.hops(associations)
    entity, relation = associations.entity_size, associations.relation_size
    width, count = queries.table.shape[1], queries.row.shape[0]
    batch = associations.story.shape[0]
    if hops < 1 or width != entity + hops * relation:
        raise ValueError(
            f"a query of {width} numbers is not an entity of {entity} and relations of {relation}"
        )
    for name in ("position", "story"):
        given = getattr(queries, name)
        if given is not None and given.shape != (count,):
            raise ValueError(f"there are {count} queries, but `{name}` is of {len(given)}")
    if queries.story is None and (count % batch if batch else count):
        raise ValueError(f"{count} queries are not the same number for each of {batch} stories")
    if (queries.scale is None) != (queries.shift is None):
        raise ValueError("a layer norm has a scale and a shift, not only one of them")
    _check_numbers("the queries are", queries.table, associations)
    for name in ("scale", "shift"):
        given = getattr(queries, name)
        if given is not None and given.shape != (hops,):
            raise ValueError(f"walks of {hops} hops need as many numbers as `{name}`")
        if given is not None:
            _check_numbers(f"the {name} is", given, associations)


def _check_numbers(what: str, numbers: Tensor, associations: Associations) -> None:
    dtype = associations.table.dtype
    if full_precision(numbers.dtype) != full_precision(dtype):
        raise ValueError(f"{what} {numbers.dtype}, the stories {dtype}")


def check_values(
    associations: Associations, lengths: Int[Tensor, " b"] | None, queries: Queries | None
) -> None:
    """Refuse stories and positions that are not there; the kernel does that by itself.

    Not while a graph is traced or transformed, when there are no values to look at.
    """
    if torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active():
        return
    batch, time = associations.story.shape
    if lengths is not None:
        _check_range(lengths, 0, time, f"stories have {time} sentences, not")
    if queries is not None:
        most = len(queries.table) - 1
        _check_range(queries.row, 0, most, "there is no query")
        _check_range(queries.position, 0, time, f"in stories of {time} sentences is no position")
        _check_range(queries.stories(batch), 0, batch - 1, f"among {batch} stories is no story")


def _check_range(numbers: Int[Tensor, " n"], least: int, most: int, what: str) -> None:
    wrong = (numbers < least) | (numbers > most)
    has_values = not (numbers.is_meta or isinstance(wrong, FakeTensor))
    if has_values and wrong.any():
        raise ValueError(f"{what} {int(numbers[wrong][0])}")
