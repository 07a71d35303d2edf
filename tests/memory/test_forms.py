"""Every form of the memory against the step-by-step oracle, in float64."""

import pytest
import torch
from torch import Tensor

from memory.random_stories import (
    SUBSETS,
    TOLERANCE,
    random_associations,
    random_queries,
    random_state,
)
from tpr_rnn.memory import (
    Associations,
    DenseMemory,
    FactoredMemory,
    Memory,
    Queries,
    densify,
    native,
    parallel,
    read,
    sequential,
)
from tpr_rnn.memory.parallel import longest_whole


@pytest.fixture(autouse=True, params=["native", "torch"])
def solver(request, monkeypatch) -> None:
    """Every test runs with the compiled kernel, and again without it."""
    if request.param == "torch":
        monkeypatch.setattr(native, "usable", lambda *_: False)
    elif not native.usable(torch.zeros(1)):
        pytest.skip(native.status())


def leaves(
    associations: Associations, state: Memory | None, queries: Queries | None
) -> dict[str, Tensor]:
    """All that a gradient can flow to."""
    found = {"what is said": associations.table}
    if queries is not None:
        named = {"queries": queries.table, "scale": queries.scale, "shift": queries.shift}
        found |= {name: tensor for name, tensor in named.items() if tensor is not None}
    if isinstance(state, DenseMemory):
        found["the tensor before"] = state.tensor
    elif state is not None:
        found |= {"what was said before": state.associations.table, "changes before": state.change}
    return found


def outputs_and_gradients(form, associations, *, state, queries=None, **settings):
    """Changes, final memory, what queries find, and the gradient of a mix of them."""
    changes, memory, *found = form(associations, state=state, queries=queries, **settings)
    results = {"changes": changes, "memory": densify(memory).tensor}
    if queries is not None:
        (results["found"],) = found
    generator = torch.Generator().manual_seed(99)
    loss = torch.zeros((), dtype=torch.float64)
    for output in results.values():
        weight = torch.randn(output.shape, generator=generator, dtype=torch.float64)
        loss = loss + (output * weight).sum()
    inputs = leaves(associations, state, queries)
    gradients = torch.autograd.grad(loss, list(inputs.values()), allow_unused=True)
    for (name, value), gradient in zip(inputs.items(), gradients, strict=True):
        # A story of no sentences uses nothing that is said.
        results[f"gradient of {name}"] = torch.zeros_like(value) if gradient is None else gradient
    return results


def assert_same(associations, *, chunk=None, **common) -> None:
    expected = outputs_and_gradients(sequential, associations, **common)
    actual = outputs_and_gradients(parallel, associations, **common, chunk=chunk)
    assert actual.keys() == expected.keys()
    for name in expected:
        torch.testing.assert_close(
            actual[name],
            expected[name],
            **TOLERANCE,
            msg=lambda text, name=name: f"{name}: {text}",
        )


@pytest.mark.parametrize("chunk", [None, 1, 5, 16])
@pytest.mark.parametrize("state", ["none", "dense", "factored"])
@pytest.mark.parametrize("operations", SUBSETS, ids="+".join)
def test_parallel_equals_sequential(operations, state, chunk) -> None:
    associations = random_associations(4, 13, 5, 3, seed=1)
    assert_same(
        associations,
        operations=operations,
        lengths=torch.tensor([13, 0, 1, 7]),
        state=random_state(state, 4, 5, 3, seed=2, operations=operations),
        queries=random_queries(associations, 40, seed=3),
        chunk=chunk,
    )


@pytest.mark.parametrize("chunk", [None, 3])
@pytest.mark.parametrize("state", ["none", "dense", "factored"])
def test_parallel_equals_sequential_without_queries(state, chunk) -> None:
    assert_same(
        random_associations(3, 7, 5, 3, seed=1),
        lengths=torch.tensor([7, 2, 0]),
        state=random_state(state, 3, 5, 3, seed=2),
        chunk=chunk,
    )


@pytest.mark.parametrize(
    ("batch", "time", "entity", "relation", "chunk"),
    [
        (1, 1, 1, 1, None),
        (1, 1, 4, 2, 1),
        (2, 0, 4, 2, None),
        (2, 0, 4, 2, 3),
        (3, 2, 15, 10, None),
        (2, 63, 15, 10, 16),
        (1, 130, 7, 4, None),
        (1, 130, 7, 4, 33),
    ],
)
def test_parallel_equals_sequential_in_awkward_sizes(batch, time, entity, relation, chunk) -> None:
    associations = random_associations(batch, time, entity, relation, seed=3)
    assert_same(
        associations,
        state=random_state("dense", batch, entity, relation, seed=11),
        queries=random_queries(associations, 9, seed=12),
        chunk=chunk,
    )


@pytest.mark.parametrize("chunk", [None, 3])
def test_a_story_of_no_sentences_leaves_the_memory_empty(chunk) -> None:
    changes, memory = parallel(random_associations(2, 0, 4, 3, seed=12), chunk=chunk)
    assert changes.shape == (2, 0, 3, 4)
    assert torch.equal(densify(memory).tensor, torch.zeros(2, 4, 3, 4, dtype=torch.float64))


@pytest.mark.parametrize("form", [sequential, parallel], ids=["sequential", "parallel"])
@pytest.mark.parametrize("kind", ["none", "dense", "factored"])
def test_a_story_may_be_told_in_pieces(form, kind) -> None:
    associations = random_associations(2, 17, 6, 4, seed=4)
    state = random_state(kind, 2, 6, 4, seed=5)
    whole_changes, whole = sequential(associations, state=state)
    cuts = [0, *sorted(torch.randperm(17, generator=torch.Generator().manual_seed(6))[:4].tolist())]
    changes = []
    for begin, end in zip(cuts, [*cuts[1:], 17], strict=True):
        change, state = form(associations.between(begin, end), state=state)
        changes.append(change)
    torch.testing.assert_close(torch.cat(changes, dim=1), whole_changes, **TOLERANCE)
    torch.testing.assert_close(densify(state).tensor, densify(whole).tensor, **TOLERANCE)


def test_a_long_story_goes_in_chunks_and_a_short_one_does_not() -> None:
    assert longest_whole(entity_size=15, relation_size=10) == 78
    # The larger the memory, the dearer it is to carry along.
    assert longest_whole(entity_size=40, relation_size=20) == 371


@pytest.mark.parametrize("chunk", [None, 2])
def test_the_kind_of_the_final_memory_does_not_depend_on_the_length(chunk) -> None:
    for time in (0, 1, 3, 150):
        associations = random_associations(1, time, 4, 2, seed=7)
        assert isinstance(parallel(associations, chunk=chunk)[1], FactoredMemory)
        for kind in ("dense", "factored"):
            state = random_state(kind, 1, 4, 2, seed=8)
            assert isinstance(parallel(associations, state=state, chunk=chunk)[1], DenseMemory)


def test_reads_of_either_kind_agree() -> None:
    memory = random_state("factored", 3, 5, 4, seed=9)
    entity = torch.randn(3, 5, dtype=torch.float64)
    relation = torch.randn(3, 4, dtype=torch.float64)
    one = read(memory, entity, relation)
    assert one.shape == (3, 5)
    torch.testing.assert_close(one, read(densify(memory), entity, relation), **TOLERANCE)
    several = read(memory, entity.unsqueeze(1), relation.unsqueeze(1))
    torch.testing.assert_close(several.squeeze(1), one)


def test_a_sentence_may_stand_in_many_places() -> None:
    """The table holds it once, and its gradient is the sum over all of them."""
    four = random_associations(1, 4, 5, 3, seed=13)
    story = torch.tensor([[0, 1, 1, 3, 2], [2, 0, 0, 0, 1], [3, 3, 3, 3, 3]])
    assert_same(
        four._replace(story=story),
        lengths=torch.tensor([5, 3, 4]),
        state=None,
        queries=random_queries(four._replace(story=story), 6, seed=14),
    )


def test_float32_stays_close() -> None:
    double = random_associations(4, 60, 15, 10, seed=10)
    unit = Associations.of(
        **{n: torch.nn.functional.normalize(v, dim=2) for n, v in double.parts()._asdict().items()}
    )
    single = unit._replace(table=unit.table.detach().float())
    expected = densify(sequential(unit)[1]).tensor
    actual = densify(parallel(single)[1]).tensor
    torch.testing.assert_close(actual.double(), expected, rtol=1e-4, atol=1e-5)


FORMS = [sequential, parallel]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["dense", "factored"])
@pytest.mark.parametrize(("batch", "entity", "relation"), [(1, 5, 3), (2, 5, 4), (2, 4, 3)])
def test_a_state_that_does_not_fit_is_refused(form, kind, batch, entity, relation) -> None:
    said = random_associations(2, 3, 5, 3, seed=1)
    with pytest.raises(ValueError, match=r"these stories need \(2, 5, 3, 5\)"):
        form(said, state=random_state(kind, batch, entity, relation, seed=2))


@pytest.mark.parametrize("form", FORMS)
def test_a_state_of_other_numbers_is_refused(form) -> None:
    said = random_associations(2, 3, 5, 3, seed=1)
    with pytest.raises(ValueError, match=r"the state is torch\.float32"):
        form(said, state=DenseMemory(torch.zeros(2, 5, 3, 5)))


@pytest.mark.parametrize("chunk", [0, -1])
def test_a_chunk_of_no_sentence_is_refused(chunk) -> None:
    with pytest.raises(ValueError, match=f"not {chunk}"):
        parallel(random_associations(2, 3, 5, 3, seed=1), chunk=chunk)


@pytest.mark.parametrize("chunk", [None, 2])
def test_what_stands_behind_the_end_of_a_story_is_never_looked_at(chunk) -> None:
    said = random_associations(2, 4, 5, 3, seed=1)
    lengths = torch.tensor([4, 2])
    broken = said.table.detach().clone()
    broken[said.story[1, 2:]] = torch.nan
    probe = torch.ones(2, 5, dtype=torch.float64), torch.ones(2, 3, dtype=torch.float64)
    _, memory = parallel(said, lengths=lengths, chunk=chunk)
    _, same = parallel(said._replace(table=broken), lengths=lengths, chunk=chunk)
    torch.testing.assert_close(read(same, *probe), read(memory, *probe))
    torch.testing.assert_close(densify(same).tensor, densify(memory).tensor)


def test_stories_may_be_rows_of_any_whole_numbers() -> None:
    said = random_associations(2, 4, 5, 3, seed=1)
    changes, _ = parallel(said._replace(story=said.story.int()))
    torch.testing.assert_close(changes, parallel(said)[0])


@pytest.mark.parametrize("time", [8, 9, 24, 25, 46])
@pytest.mark.parametrize("chunk", [11, 46])
def test_sizes_around_the_blocks_of_the_kernel(time, chunk) -> None:
    """It reads for 24 rows or queries at once, of 64 rows at once."""
    associations = random_associations(2, time, 17, 9, seed=time)
    queries = random_queries(associations, 60, seed=1)
    assert_same(associations, state=None, queries=queries, chunk=chunk)
