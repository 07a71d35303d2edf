"""Reads at positions: what a query means, and which ones there may be."""

import pytest
import torch
from torch import Tensor

from memory.random_stories import TOLERANCE, random_associations, random_queries, random_state
from tpr_rnn.memory import (
    Associations,
    DenseMemory,
    Queries,
    find,
    native,
    parallel,
    read,
    sequential,
)

FORMS = {
    "sequential": sequential,
    "whole": parallel,
    "chunked": lambda *args, **settings: parallel(*args, **settings, chunk=3),
}


@pytest.fixture(params=["native", "torch"])
def solver(request, monkeypatch) -> None:
    """With the compiled kernel, and again without it."""
    if request.param == "torch":
        monkeypatch.setattr(native, "usable", lambda *_: False)
    elif not native.usable(torch.zeros(1)):
        pytest.skip(native.status())


@pytest.fixture(params=FORMS)
def form(request, solver):
    return FORMS[request.param]


def by_hand(said: Associations, queries: Queries, state: DenseMemory | None) -> Tensor:
    """Eq. 17-19 for one query after the other, each on a story that ends where it is asked."""
    entity_size, hops = said.entity_size, queries.hops(said)
    found = []
    for q, (row, position) in enumerate(zip(queries.row, queries.position, strict=True)):
        story = int(queries.stories(len(said.story))[q])
        told = said._replace(story=said.story[story : story + 1, :position])
        before = state and DenseMemory(state.tensor[story : story + 1])
        _, memory = sequential(told, state=before)
        entity, *relations = queries.table[row].split([entity_size] + [said.relation_size] * hops)
        for hop, relation in enumerate(relations):
            entity = read(memory, entity[None], relation[None])[0]
            if queries.scale is not None:
                centred = entity - entity.mean()
                deviation = (centred.square().mean() + 1e-7).sqrt()
                entity = centred / deviation * queries.scale[hop] + queries.shift[hop]
            found.append(entity)
    return torch.stack(found).view(len(queries.row), hops, entity_size)


@pytest.mark.parametrize("norm", [True, False])
@pytest.mark.parametrize("hops", [1, 3])
@pytest.mark.parametrize("kind", ["none", "dense"])
def test_a_query_reads_the_memory_of_the_story_so_far(form, norm, hops, kind) -> None:
    said = random_associations(3, 8, 5, 3, seed=1)
    queries = random_queries(said, 20, seed=2, norm=norm, hops=hops)
    state = random_state(kind, 3, 5, 3, seed=3)
    _, _, found = form(said, queries=queries, state=state)
    torch.testing.assert_close(found, by_hand(said, queries, state), **TOLERANCE)


def test_at_position_0_a_query_reads_the_state(form) -> None:
    said = random_associations(2, 6, 5, 3, seed=1)
    entity, relation = (torch.randn(2, size, dtype=torch.float64) for size in (5, 3))
    start = torch.zeros(2, dtype=torch.int64)
    queries = Queries.of(entity, relation.unsqueeze(1), position=start)
    assert not form(said, queries=queries)[2].any()
    state = random_state("dense", 2, 5, 3, seed=3)
    _, _, found = form(said, queries=queries, state=state)
    torch.testing.assert_close(found[:, 0], read(state, entity, relation), **TOLERANCE)


def test_there_may_be_one_query_after_each_sentence(form) -> None:
    said = random_associations(2, 7, 5, 3, seed=1)
    entity, relations = torch.randn(2, 7, 5).double(), torch.randn(2, 7, 2, 3).double()
    queries = Queries.everywhere(entity, relations)
    _, _, found = form(said, queries=queries)
    torch.testing.assert_close(found, by_hand(said, queries, None), **TOLERANCE)
    assert queries.position.tolist() == [1, 2, 3, 4, 5, 6, 7] * 2


def test_there_may_be_no_query(form) -> None:
    said = random_associations(2, 7, 5, 3, seed=1)
    changes, _, found = form(said, queries=random_queries(said, 0, seed=1))
    assert found.shape == (0, 3, 5)
    torch.testing.assert_close(changes, form(said)[0])


def test_several_queries_at_one_position_do_not_touch_each_other(form) -> None:
    said = random_associations(2, 7, 5, 3, seed=1)
    some = random_queries(said, 9, seed=2)._replace(
        position=torch.full((9,), 4), story=torch.ones(9, dtype=torch.int64)
    )
    _, _, together = form(said, queries=some)
    for q in range(9):
        _, _, alone = form(said, queries=some.chosen(torch.tensor([q])))
        torch.testing.assert_close(alone[0], together[q], **TOLERANCE)


def test_behind_the_end_of_a_story_a_query_sees_the_end(form) -> None:
    said = random_associations(2, 8, 5, 3, seed=1)
    lengths = torch.tensor([5, 0])
    story = torch.tensor([0, 1])
    late = random_queries(said, 2, seed=2)._replace(position=torch.tensor([8, 7]), story=story)
    _, _, found = form(said, queries=late, lengths=lengths)
    _, _, same = form(said, queries=late._replace(position=lengths), lengths=lengths)
    torch.testing.assert_close(found, same, **TOLERANCE)


def test_what_a_query_does_not_see_may_be_infinite(form) -> None:
    said = random_associations(2, 8, 5, 3, seed=1)
    later = torch.arange(16) % 8 >= 4
    said = said._replace(table=torch.where(later[:, None], 1e200 * said.table, said.table))
    queries = random_queries(said, 16, seed=2)
    queries = queries._replace(position=torch.tensor([0, 2, 4, 8] * 4))
    _, _, found = form(said, queries=queries)
    seen = queries.position <= 4
    expected = by_hand(said, queries, None)
    torch.testing.assert_close(found[seen], expected[seen], **TOLERANCE)
    assert not found[~seen].isfinite().any()


def test_a_story_told_in_pieces_answers_as_the_whole(form) -> None:
    said = random_associations(2, 9, 5, 3, seed=1)
    queries = random_queries(said, 12, seed=2)
    _, _, expected = sequential(said, queries=queries)
    state = DenseMemory.zero(said)
    for start in (0, 4):
        end = 4 if start == 0 else 9
        here = ((queries.position > start) & (queries.position <= end)).nonzero().squeeze(1)
        asked = queries.chosen(here)
        asked = asked._replace(position=asked.position - start)
        _, state, found = form(said.between(start, end), state=state, queries=asked)
        torch.testing.assert_close(found, expected[here], **TOLERANCE)


def test_queries_may_be_of_any_whole_numbers(form) -> None:
    said = random_associations(2, 7, 5, 3, seed=1)
    queries = random_queries(said, 6, seed=2)
    small = queries._replace(
        row=queries.row.int(), position=queries.position.int(), story=queries.story.int()
    )
    torch.testing.assert_close(form(said, queries=small)[2], form(said, queries=queries)[2])


@pytest.mark.parametrize(
    ("field", "number", "message"),
    [
        ("row", 2, "there is no query 2"),
        ("row", -1, "there is no query -1"),
        ("story", 2, "no story 2"),
        ("story", -1, "no story -1"),
        ("position", 8, "no position 8"),
        ("position", -1, "no position -1"),
    ],
)
def test_queries_that_are_nowhere_are_refused(form, field, number, message) -> None:
    said = random_associations(2, 7, 5, 3, seed=1)
    queries = random_queries(said, 4, seed=2)
    wrong = getattr(queries, field).clone()
    wrong[2] = number
    with pytest.raises(ValueError, match=message):
        form(said, queries=queries._replace(**{field: wrong}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda q: {"table": q.table[:, :-1]}, "is not an entity of 5 and relations of 3"),
        (lambda q: {"table": q.table[:, :5]}, "is not an entity of 5 and relations of 3"),
        (lambda q: {"table": q.table.float()}, r"the queries are torch\.float32"),
        (lambda q: {"scale": q.scale.float()}, r"the scale is torch\.float32"),
        (lambda q: {"shift": None}, "a scale and a shift"),
        (lambda q: {"scale": q.scale[:2], "shift": q.shift[:2]}, "walks of 3 hops"),
        (lambda q: {"position": q.position[1:]}, "`position` is of 3"),
        (lambda q: {"story": q.story[1:]}, "`story` is of 3"),
        (
            lambda q: {"story": None, "row": q.row[1:], "position": q.position[1:]},
            "3 queries are not the same number for each of 2",
        ),
    ],
)
def test_queries_that_do_not_fit_are_refused(form, change, message) -> None:
    said = random_associations(2, 7, 5, 3, seed=1)
    queries = random_queries(said, 4, seed=2)
    with pytest.raises(ValueError, match=message):
        form(said, queries=Queries(*queries)._replace(**change(queries)))


def test_a_stream_finds_what_the_whole_story_finds_and_its_state_does_not_grow(form) -> None:
    said = random_associations(2, 12, 5, 3, seed=1)
    generator = torch.Generator().manual_seed(2)
    entity = torch.randn(2, 12, 5, generator=generator, dtype=torch.float64)
    relations = torch.randn(2, 12, 2, 3, generator=generator, dtype=torch.float64)
    _, _, expected = sequential(said, queries=Queries.everywhere(entity, relations))
    state = None
    for t, wanted in enumerate(expected.view(2, 12, 2, 5).unbind(dim=1)):
        queries = Queries.everywhere(entity[:, t : t + 1], relations[:, t : t + 1])
        _, state, found = form(said.between(t, t + 1), state=state, queries=queries)
        torch.testing.assert_close(found, wanted, **TOLERANCE)
        assert t == 0 or isinstance(state, DenseMemory)


def test_where_only_that_is_wanted_queries_find_the_same(solver) -> None:
    """Bit for bit, though the stories' ends are not padded: neither there nor in the gradients."""
    said = random_associations(3, 30, 5, 3, seed=1)
    queries = random_queries(said, 40, seed=2)
    lengths = torch.tensor([0, 30, 4])
    inputs = (said.table, queries.table, queries.scale, queries.shift)
    results = []
    for found in (
        find(said, lengths=lengths, queries=queries),
        parallel(said, lengths=lengths, queries=queries)[2],
    ):
        results.append((found, *torch.autograd.grad(found.square().sum(), inputs)))
    for short, long in zip(*results, strict=True):
        assert torch.equal(short, long)
