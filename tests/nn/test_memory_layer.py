"""The layer against the step-by-step memory in float64: outputs, state, every gradient."""

import inspect

import pytest
import torch
from torch import Tensor

from memory.random_stories import SUBSETS, TOLERANCE
from tpr_rnn.memory import DenseMemory, native, sequential
from tpr_rnn.nn import MemoryState, TPRMemory


@pytest.fixture(autouse=True, params=["native", "torch"])
def solver(request, monkeypatch) -> None:
    """Every test runs with the compiled kernel, and again without it."""
    if request.param == "torch":
        monkeypatch.setattr(native, "usable", lambda *_: False)
    elif not native.usable(torch.zeros(1)):
        pytest.skip(native.status())


def make_layer(seed: int = 0, **settings) -> TPRMemory:
    torch.manual_seed(seed)
    sizes = {"entity_size": 5, "relation_size": 3, "heads": 2, "hops": 2}
    layer = TPRMemory(4, **(sizes | settings)).double()
    with torch.no_grad():  # at 1 and 0 a forgotten scale or shift would not show
        layer.scale.uniform_(0.5, 1.5)
        layer.shift.uniform_(-0.5, 0.5)
    return layer


def make_input(batch: int, time: int, seed: int = 1) -> Tensor:
    x = torch.randn(batch, time, 4, generator=torch.Generator().manual_seed(seed)).double()
    return x.requires_grad_()


def make_state(layer: TPRMemory, batch: int, seed: int = 2) -> MemoryState:
    generator = torch.Generator().manual_seed(seed)
    shape = layer.empty_state(batch).tensor.shape
    return MemoryState(torch.randn(shape, generator=generator).double().requires_grad_())


def step_by_step(layer: TPRMemory, x: Tensor, state: MemoryState | None, **settings):
    """The layer, with the oracle in place of the parallel memory, and one head at a time."""
    reads = settings.pop("read_mask", None)
    told = layer.tell(x, **settings)
    batch, time = x.shape[:2]
    before = (layer.empty_state(batch) if state is None else state).tensor
    _, memory, found = sequential(
        told.associations,
        operations=layer.operations,
        lengths=told.lengths,
        state=DenseMemory(before.flatten(0, 1)),
        queries=told.queries,
    )
    rows = []
    for b in range(batch):
        for t in range(time):
            heads = [found[(b * layer.heads + m) * time + t].flatten() for m in range(layer.heads)]
            silent = reads is not None and not reads[b, t]
            silent |= settings.get("lengths") is not None and t >= settings["lengths"][b]
            y = layer.output(torch.cat(heads))
            rows.append(torch.zeros_like(y) if silent else y)
    y = torch.stack(rows).view(batch, time, -1)
    return y, MemoryState(memory.tensor.view_as(before))


def assert_same(layer: TPRMemory, x: Tensor, state: MemoryState | None, **settings) -> None:
    results = []
    for form in (layer, lambda *args, **rest: step_by_step(layer, *args, **rest)):
        y, after = form(x, state, **settings)
        generator = torch.Generator().manual_seed(9)
        loss = sum(
            (output * torch.randn(output.shape, generator=generator).double()).sum()
            for output in (y, after.tensor)
        )
        leaves = [x, *layer.parameters(), *([] if state is None else [state.tensor])]
        results.append([y, after.tensor, *torch.autograd.grad(loss, leaves)])
    for fast, slow in zip(*results, strict=True):
        torch.testing.assert_close(fast, slow, **TOLERANCE)


@pytest.mark.parametrize("operations", SUBSETS, ids="+".join)
def test_it_is_the_step_by_step_memory(operations) -> None:
    layer = make_layer(operations=operations)
    assert_same(layer, make_input(3, 7), make_state(layer, 3))


@pytest.mark.parametrize(("batch", "time"), [(1, 1), (2, 1), (1, 40), (3, 17)])
def test_it_is_that_in_awkward_sizes(batch, time) -> None:
    assert_same(make_layer(heads=1, hops=1), make_input(batch, time), None)
    assert_same(make_layer(heads=3, entity_size=4), make_input(batch, time), None)


def test_lengths_and_masks_say_who_writes_and_who_reads() -> None:
    layer, x = make_layer(), make_input(3, 6)
    generator = torch.Generator().manual_seed(5)
    write, read = (torch.rand(3, 6, generator=generator) < 0.6 for _ in range(2))
    lengths = torch.tensor([6, 0, 4])
    assert_same(layer, x, make_state(layer, 3), lengths=lengths, write_mask=write, read_mask=read)
    y, after = layer(x, lengths=lengths, write_mask=write, read_mask=read)
    assert not y[1].any()
    assert not y[2, 4:].any()
    assert not y[~read].any()
    assert not after.tensor[1].any()


def test_a_masked_step_writes_nothing_and_reads_what_is_there() -> None:
    layer, x = make_layer(), make_input(2, 5)
    mask = torch.ones(2, 5, dtype=torch.bool)
    mask[:, 3] = False
    _, after = layer(x, write_mask=mask)
    without = torch.cat((x[:, :3], x[:, 4:]), dim=1)
    y, expected = layer(without)
    torch.testing.assert_close(after.tensor, expected.tensor, **TOLERANCE)
    masked, _ = layer(x, write_mask=mask)
    torch.testing.assert_close(masked[:, [0, 1, 2, 4]], y, **TOLERANCE)


@pytest.mark.parametrize("cuts", [(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), (4, 5), (11,)])
def test_a_stream_is_the_whole(cuts) -> None:
    layer, x = make_layer(), make_input(2, 12)
    whole, end = layer(x)
    state, pieces = None, []
    for start, stop in zip((0, *cuts), (*cuts, 12), strict=True):
        y, state = layer(x[:, start:stop], state)
        pieces.append(y)
        assert state.tensor.shape == end.tensor.shape
    torch.testing.assert_close(torch.cat(pieces, dim=1), whole, **TOLERANCE)
    torch.testing.assert_close(state.tensor, end.tensor, **TOLERANCE)


def test_a_sequence_of_no_steps_leaves_the_state_as_it_is() -> None:
    layer = make_layer()
    state = make_state(layer, 2)
    y, after = layer(make_input(2, 0), state)
    assert y.shape == (2, 0, 4)
    torch.testing.assert_close(after.tensor, state.tensor)


def test_stories_do_not_touch_each_other() -> None:
    layer, x = make_layer(), make_input(3, 6)
    state = make_state(layer, 3)
    y, after = layer(x, state)
    for which in range(3):
        alone, left = layer(x[[which]], state[which])
        torch.testing.assert_close(alone, y[[which]], **TOLERANCE)
        torch.testing.assert_close(left.tensor, after[which].tensor, **TOLERANCE)


def test_an_output_may_be_of_another_size() -> None:
    y, _ = make_layer(output_size=7)(make_input(2, 3))
    assert y.shape == (2, 3, 7)


@pytest.mark.parametrize(
    "name", ["input_size", "entity_size", "relation_size", "heads", "hops", "output_size"]
)
def test_sizes_must_be_at_least_one(name) -> None:
    sizes = {"input_size": 4} | {name: 0}
    with pytest.raises(ValueError, match=f"{name} must be a whole number of 1 or more, not 0"):
        TPRMemory(**sizes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": torch.zeros(2, 3, 5).double()}, r"x is \(stories, steps, 4\)"),
        ({"state": MemoryState(torch.zeros(1, 2, 5, 3, 5).double())}, "the state is of shape"),
        ({"state": MemoryState(torch.zeros(2, 2, 5, 3, 5, device="meta"))}, "the state is on meta"),
        ({"lengths": torch.tensor([3])}, "`lengths` is"),
        ({"write_mask": torch.ones(2, 4, dtype=torch.bool)}, "write_mask is a truth value"),
        ({"read_mask": torch.ones(2, 3)}, "read_mask is a truth value"),
    ],
)
def test_what_does_not_go_together_is_refused(arguments, message) -> None:
    names = ("x", "state", "lengths", "write_mask", "read_mask")
    given = dict.fromkeys(names) | {"x": torch.zeros(2, 3, 4).double()} | arguments
    with pytest.raises(ValueError, match=message):  # the shape checks of the tests come before it
        make_layer()._check(*given.values())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": [[0.0]]}, "x is a tensor, not a list; sequences of several lengths are padded"),
        ({"state": (torch.zeros(1), torch.zeros(1))}, "MemoryState, .*, not a tuple"),
        ({"lengths": [3, 2]}, "whole numbers .*, not a list"),
        ({"lengths": torch.tensor([3.0, 2.5])}, "whole numbers .*, not torch.float32"),
        ({"lengths": torch.tensor([True, False])}, "whole numbers .*, not torch.bool"),
    ],
)
def test_what_is_of_another_kind_is_refused(arguments, message) -> None:
    given = {"x": torch.zeros(2, 3, 4).double(), "state": None, "lengths": None} | arguments
    check = inspect.unwrap(TPRMemory._check)  # without the shape checks of the tests
    with pytest.raises(TypeError, match=message):
        check(make_layer(), *given.values())


def test_what_stands_behind_an_end_does_not_matter() -> None:
    layer, x, lengths = make_layer(), make_input(2, 5), torch.tensor([5, 2])
    broken = x.detach().clone()
    broken[1, 2:] = torch.nan
    broken.requires_grad_()
    pairs = []
    for given in (x, broken):
        y, state = layer(given, lengths=lengths)
        total = y.sum() + state.tensor.sum()
        pairs.append([y, state.tensor, *torch.autograd.grad(total, [given, *layer.parameters()])])
    for one, other in zip(*pairs, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("batch", [0, 1])
def test_stories_of_no_steps_and_no_stories_have_gradients_and_attention(batch) -> None:
    layer = make_layer()
    for time in (0, 2):
        x = make_input(batch, time)
        y, state = layer(x)
        (y.sum() + state.tensor.sum()).backward()
        assert x.grad.shape == (batch, time, 4)
        assert layer.attention(x.detach()).weights.shape == (batch, 2, 2, time, time, 2)


def test_the_input_may_lie_in_memory_as_it_likes() -> None:
    layer, x = make_layer(), make_input(2, 5)
    turned = x.detach().permute(2, 0, 1).contiguous().permute(1, 2, 0)
    assert not turned.is_contiguous()
    torch.testing.assert_close(layer(turned)[0], layer(x)[0])
    one = x[:1, :1].expand(2, 5, 4)
    torch.testing.assert_close(layer(one)[0], layer(one.contiguous())[0])


def test_parameters_are_drawn_anew() -> None:
    layer = make_layer().to("meta").to_empty(device="cpu")
    layer.reset_parameters()
    assert layer.scale.tolist() == [1, 1]
    assert layer.shift.tolist() == [0, 0]
    assert torch.isfinite(layer(make_input(1, 3))[0]).all()


def test_lengths_beyond_the_steps_are_refused() -> None:
    with pytest.raises(ValueError, match="3 sentences, not 4"):
        make_layer()(torch.zeros(2, 3, 4).double(), lengths=torch.tensor([3, 4]))
