"""What the algebra of the memory promises, for any story."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tpr_rnn.memory import Associations, densify, parallel, read, sequential

forms = pytest.mark.parametrize("form", [sequential, parallel], ids=["sequential", "parallel"])
CLOSE = {"rtol": 1e-8, "atol": 1e-10}


def orthonormal(count: int, size: int, generator: torch.Generator) -> Tensor:
    square = torch.randn(size, size, generator=generator, dtype=torch.float64)
    return torch.linalg.qr(square).Q[:count]


def random_story(seed: int, batch: int, time: int) -> Associations:
    generator = torch.Generator().manual_seed(seed)
    table = torch.randn(batch * time, 5 + 5 + 3 + 3 + 3, generator=generator, dtype=torch.float64)
    story = torch.arange(batch * time).view(batch, time)
    return Associations(table / 2, story, entity_size=5)


def changed(story: Associations, **parts: Tensor) -> Associations:
    """The same story with some parts of its sentences replaced."""
    return Associations.of(**story.parts()._asdict() | parts)


def final(form, story: Associations, **settings) -> Tensor:
    return densify(form(story, **settings)[1]).tensor


@forms
@given(seed=st.integers(0, 10_000), facts=st.integers(1, 12))
@settings(max_examples=25, deadline=None)
def test_what_is_bound_with_orthonormal_keys_is_unbound_exactly(form, seed, facts) -> None:
    generator = torch.Generator().manual_seed(seed)
    entities = orthonormal(4, 6, generator)
    relations = orthonormal(3, 4, generator)
    # Each fact has its own (entity, relation), of which there are 12.
    which = torch.randperm(12, generator=generator)[:facts]
    e1, r1 = entities[which // 3], relations[which % 3]
    e2 = torch.randn(facts, 6, generator=generator, dtype=torch.float64)
    parts = {"e1": e1, "e2": e2, "r1": r1, "r2": r1, "r3": r1}
    story = Associations.of(**{name: vectors.unsqueeze(0) for name, vectors in parts.items()})
    _, memory = form(story, operations=("write",))
    found = read(memory, e1.unsqueeze(0), r1.unsqueeze(0))[0]
    torch.testing.assert_close(found, e2, **CLOSE)


@forms
@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_telling_the_same_fact_again_changes_nothing(form, seed) -> None:
    story = random_story(seed, batch=1, time=5)
    parts = story.parts()
    unit = changed(
        story,
        e1=torch.nn.functional.normalize(parts.e1, dim=2),
        r1=torch.nn.functional.normalize(parts.r1, dim=2),
    )
    again = unit._replace(story=torch.cat([unit.story, unit.story[:, -1:]], dim=1))
    once, twice = (final(form, s, operations=("write",)) for s in (unit, again))
    torch.testing.assert_close(once, twice, **CLOSE)


@forms
@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_a_new_fact_replaces_the_old_one(form, seed) -> None:
    generator = torch.Generator().manual_seed(seed)
    (e1,), (r1,) = orthonormal(1, 5, generator), orthonormal(1, 3, generator)
    first, second = torch.randn(2, 5, generator=generator, dtype=torch.float64)
    keys = {"e1": e1.expand(1, 2, -1), **{r: r1.expand(1, 2, -1) for r in ("r1", "r2", "r3")}}
    _, memory = form(
        Associations.of(e2=torch.stack([first, second]).unsqueeze(0), **keys), operations=("write",)
    )
    torch.testing.assert_close(read(memory, e1[None], r1[None])[0], second, **CLOSE)


@forms
@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_move_keeps_what_write_displaces(form, seed) -> None:
    generator = torch.Generator().manual_seed(seed)
    (e1,), (now, before) = orthonormal(1, 5, generator), orthonormal(2, 3, generator)
    first, second = torch.randn(2, 5, generator=generator, dtype=torch.float64)
    two = (1, 2, -1)
    story = Associations.of(
        e1=e1.expand(*two),
        e2=torch.stack([first, second]).unsqueeze(0),
        r1=now.expand(*two),
        r2=before.expand(*two),
        r3=now.expand(*two),
    )
    _, memory = form(story, operations=("write", "move"))
    torch.testing.assert_close(read(memory, e1[None], now[None])[0], second, **CLOSE)
    torch.testing.assert_close(read(memory, e1[None], before[None])[0], first, **CLOSE)


@forms
@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_backlink_leads_from_target_to_source(form, seed) -> None:
    generator = torch.Generator().manual_seed(seed)
    mary, kitchen = orthonormal(2, 5, generator)
    is_at, holds = orthonormal(2, 3, generator)
    parts = {"e1": mary, "e2": kitchen, "r1": is_at, "r2": is_at, "r3": holds}
    story = Associations.of(**{name: vector[None, None] for name, vector in parts.items()})
    _, memory = form(story, operations=("write", "backlink"))
    torch.testing.assert_close(read(memory, kitchen[None], holds[None])[0], mary, **CLOSE)
    torch.testing.assert_close(read(memory, mary[None], is_at[None])[0], kitchen, **CLOSE)


@forms
@given(seed=st.integers(0, 10_000), lengths=st.lists(st.integers(0, 6), min_size=1, max_size=4))
@settings(max_examples=25, deadline=None)
def test_padding_changes_nothing(form, seed, lengths) -> None:
    story = random_story(seed, batch=len(lengths), time=6)
    padded = final(form, story, lengths=torch.tensor(lengths))
    for row, length in enumerate(lengths):
        alone = story._replace(story=story.story[row : row + 1, :length])
        torch.testing.assert_close(padded[row], final(form, alone)[0], **CLOSE)


@forms
@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_the_order_of_the_batch_changes_nothing(form, seed) -> None:
    story = random_story(seed, batch=4, time=5)
    order = torch.randperm(4, generator=torch.Generator().manual_seed(seed))
    shuffled = story._replace(story=story.story[order])
    torch.testing.assert_close(final(form, shuffled), final(form, story)[order], **CLOSE)


@forms
@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_facts_with_orthogonal_keys_may_be_told_in_any_order(form, seed) -> None:
    generator = torch.Generator().manual_seed(seed)
    e1 = orthonormal(4, 5, generator).unsqueeze(0)
    story = changed(random_story(seed, batch=1, time=4), e1=e1)
    order = torch.randperm(4, generator=generator)
    shuffled = story._replace(story=story.story[:, order])
    one, other = (final(form, s, operations=("write", "move")) for s in (story, shuffled))
    torch.testing.assert_close(one, other, **CLOSE)
