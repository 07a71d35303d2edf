"""The kernel as a citizen of PyTorch: whatever is done with an operator, the results are right."""

import os
import subprocess
import sys

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import forward_ad

from memory.random_stories import random_associations, random_queries, random_state
from tpr_rnn.memory import Associations, DenseMemory, native, parallel, sequential

CLOSE = {"rtol": 1e-9, "atol": 1e-11}
SAID = random_associations(2, 5, 3, 2, seed=1)
QUERIES = random_queries(SAID, 6, seed=2, hops=2)
STATE = random_state("dense", 2, 3, 2, seed=3)
LENGTHS = torch.tensor([5, 3])
INPUTS = (SAID.table, QUERIES.table, QUERIES.scale, QUERIES.shift, STATE.tensor)


def outputs(*inputs, form=parallel, **settings):
    """Changes, final memory and what queries find, as a function of all that has a gradient."""
    table, asked, scale, shift, state = inputs
    changes, memory, found = form(
        SAID._replace(table=table),
        lengths=LENGTHS,
        state=DenseMemory(state),
        queries=QUERIES._replace(table=asked, scale=scale, shift=shift),
        **settings,
    )
    return changes, memory.tensor, found


def total(*inputs, form=parallel):
    return sum((output**2).sum() for output in outputs(*inputs, form=form))


def assert_close(actual, expected) -> None:
    for one, other in zip(actual, expected, strict=True):
        torch.testing.assert_close(one, other, **CLOSE)


@pytest.mark.parametrize("chunk", [None, 2])
def test_first_and_second_derivatives_are_those_of_finite_differences(chunk) -> None:
    def chunked(*inputs):
        return outputs(*inputs, chunk=chunk)

    assert torch.autograd.gradcheck(chunked, INPUTS, fast_mode=True)
    assert torch.autograd.gradgradcheck(chunked, INPUTS, fast_mode=True)


def test_the_operator_passes_the_checks_of_pytorch() -> None:
    arguments = (
        SAID.table,
        SAID.story,
        LENGTHS,
        STATE.tensor,
        QUERIES.table,
        QUERIES.row,
        QUERIES.story,
        QUERIES.position,
        QUERIES.scale,
        QUERIES.shift,
    )
    # Not those that trace a graph: the shape checks of the tests cannot be traced; see below.
    names = ("test_schema", "test_autograd_registration", "test_faketensor")
    torch.library.opcheck(torch.ops.tpr_rnn.update, (*arguments, 3, 0b111, 2, 2), test_utils=names)
    optional = (*arguments[:3], None, *arguments[4:8], None, None)
    torch.library.opcheck(torch.ops.tpr_rnn.update, (*optional, 3, 0b111, 2, 9), test_utils=names)


def test_gradients_by_torch_func() -> None:
    every = tuple(range(len(INPUTS)))
    expected = torch.autograd.grad(total(*INPUTS, form=sequential), INPUTS)
    assert_close(torch.func.grad(total, argnums=every)(*INPUTS), expected)


def test_vmap_and_gradients_of_each_sample() -> None:
    table, *rest = INPUTS
    tables = torch.stack([table, table / 2]).detach()
    each = torch.vmap(lambda table: outputs(table, *rest))(tables)
    gradients = torch.vmap(torch.func.grad(lambda table: total(table, *rest)))(tables)
    for n, one in enumerate(tables):
        one = one.clone().requires_grad_()
        assert_close([output[n] for output in each], outputs(one, *rest, form=sequential))
        expected = torch.autograd.grad(total(one, *rest, form=sequential), one)
        assert_close([gradients[n]], expected)


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # of torch, about itself
def test_derivatives_in_a_direction() -> None:
    inputs = [tensor.detach() for tensor in INPUTS]
    towards = [torch.ones_like(tensor) for tensor in inputs]
    _, expected = torch.func.jvp(
        lambda *inputs: outputs(*inputs, form=sequential), tuple(inputs), tuple(towards)
    )
    _, found = torch.func.jvp(outputs, tuple(inputs), tuple(towards))
    assert_close(found, expected)
    with forward_ad.dual_level():
        dual = outputs(*map(forward_ad.make_dual, inputs, towards))
        assert_close([forward_ad.unpack_dual(output).tangent for output in dual], expected)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("kernel", [True, False])
def test_half_precision_is_computed_in_single(dtype, kernel, monkeypatch) -> None:
    if not kernel:
        monkeypatch.setattr(native, "usable", lambda *_: False)
    half = [tensor.detach().to(dtype).requires_grad_() for tensor in INPUTS]
    single = [tensor.detach().float().requires_grad_() for tensor in half]
    found, expected = outputs(*half), outputs(*single)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == dtype
        assert torch.equal(one, other.to(dtype))
    gradients = torch.autograd.grad(sum(output.sum() for output in found), half)
    assert [gradient.dtype for gradient in gradients] == [dtype] * 5
    wanted = torch.autograd.grad(sum(output.sum() for output in expected), single)
    for one, other in zip(gradients, wanted, strict=True):
        torch.testing.assert_close(one, other.to(dtype))


@pytest.mark.parametrize("kernel", [True, False])
def test_autocast_does_not_reach_the_solve(kernel, monkeypatch) -> None:
    if not kernel:
        monkeypatch.setattr(native, "usable", lambda *_: False)
    single = [tensor.detach().float().requires_grad_() for tensor in INPUTS]
    expected = outputs(*single)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = outputs(*single)
        # What a layer makes under autocast is of half precision, what it has learned is not.
        mixed = outputs(single[0].bfloat16(), single[1].bfloat16(), *single[2:])
        (gradient,) = torch.autograd.grad(found[2].sum(), single[0], create_graph=True)
        (second,) = torch.autograd.grad(gradient.sum(), single[0])
    for one, other in zip(found, expected, strict=True):
        assert torch.equal(one, other)
    assert [output.dtype for output in mixed] == [torch.bfloat16, torch.float32, torch.bfloat16]
    (gradient,) = torch.autograd.grad(expected[2].sum(), single[0], create_graph=True)
    (wanted,) = torch.autograd.grad(gradient.sum(), single[0])
    torch.testing.assert_close(second, wanted)


def test_on_other_devices_plain_pytorch_takes_over() -> None:
    """The meta device has shapes and no numbers."""
    said = Associations(SAID.table.to("meta"), SAID.story.to("meta"), SAID.entity_size)
    queries = QUERIES._replace(
        **{
            name: tensor.to("meta")
            for name, tensor in QUERIES._asdict().items()
            if tensor is not None
        }
    )
    changes, memory, found = parallel(
        said, state=DenseMemory(STATE.tensor.to("meta")), queries=queries
    )
    assert {tensor.device.type for tensor in (changes, memory.tensor, found)} == {"meta"}
    assert (changes.shape, found.shape) == ((2, 5, 3, 3), (6, 2, 3))


@pytest.mark.parametrize("kernel", [True, False])
@pytest.mark.parametrize("form", [parallel, sequential])
def test_fake_tensors_have_shapes_and_no_numbers(form, kernel, monkeypatch) -> None:
    if not kernel:
        monkeypatch.setattr(native, "usable", lambda *_: False)
    with FakeTensorMode() as fake:
        said = SAID._replace(table=fake.from_tensor(SAID.table), story=fake.from_tensor(SAID.story))
        queries = QUERIES._replace(
            **{name: fake.from_tensor(getattr(QUERIES, name)) for name in QUERIES._fields}
        )
        changes, _, found = form(said, lengths=fake.from_tensor(LENGTHS), queries=queries)
    assert (changes.shape, found.shape) == ((2, 5, 3, 3), (6, 2, 3))


def test_it_goes_through_gradient_checkpointing() -> None:
    from torch.utils.checkpoint import checkpoint

    expected = torch.autograd.grad(total(*INPUTS), INPUTS)
    kept = checkpoint(total, *INPUTS, use_reentrant=False)
    assert_close(torch.autograd.grad(kept, INPUTS), expected)


# The packages are not under the shape checks of the tests in here, which cannot be traced.
LAYER = """
import io, sys, warnings
import torch
from tpr_rnn import Associations, Queries, densify, parallel
warnings.simplefilter("error", UserWarning)


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.said = torch.nn.Linear(8, 5 + 5 + 3 + 3 + 3)
        self.asked = torch.nn.Linear(8, 5 + 2 * 3)
        self.scale, self.shift = (torch.nn.Parameter(torch.ones(2)) for _ in range(2))

    def forward(self, x, lengths):
        e1, e2, r1, r2, r3 = self.said(x).tanh().split([5, 5, 3, 3, 3], dim=2)
        said = Associations.of(e1=e1, e2=e2, r1=r1, r2=r2, r3=r3)
        n, l = self.asked(x).split([5, 6], dim=2)
        queries = Queries.everywhere(
            n, l.unflatten(2, (2, 3)), scale=self.scale, shift=self.shift
        )
        _, memory, found = parallel(said, lengths=lengths, queries=queries)
        _, memory = parallel(said, state=densify(memory))
        return found, memory.tensor


def gradients(form, *inputs):
    found, memory = form(*inputs)
    return found, memory, *torch.autograd.grad(found.sum() + memory.sum(), layer.parameters())


def compare(form, batch, time, check=gradients):
    inputs = (torch.randn(batch, time, 8) / 3, torch.randint(time + 1, (batch,)))
    for one, other in zip(check(form, *inputs), check(layer, *inputs)):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


torch.manual_seed(0)
layer = Layer()
"""
COMPILE = """
compiled = torch.compile(layer, fullgraph=True, dynamic=True, backend=sys.argv[1])
for time in (9, 90):
    compare(compiled, 3, time)
"""
EXPORT = """
shapes = {"x": {0: torch.export.Dim("b"), 1: torch.export.Dim("t")},
          "lengths": {0: torch.export.Dim("b")}}
for strict in (False, True):
    inputs = (torch.randn(3, 9, 8), torch.tensor([9, 0, 4]))
    exported = torch.export.export(layer, inputs, dynamic_shapes=shapes, strict=strict)
    file = io.BytesIO()
    torch.export.save(exported, file)
    file.seek(0)
    loaded = torch.export.load(file).module()
    for batch, time in ((3, 9), (5, 4), (2, 90)):
        compare(loaded, batch, time, check=lambda form, *inputs: form(*inputs))
"""


def run(script: str, *arguments: str, kernel: bool = True) -> None:
    environment = os.environ | ({} if kernel else {"TPR_RNN_NATIVE": "0"})
    done = subprocess.run(
        [sys.executable, "-c", LAYER + script, *arguments],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_it_compiles_to_one_graph_and_is_exported_for_any_length() -> None:
    run(COMPILE + EXPORT, "inductor" if native.usable(torch.zeros(1)) else "aot_eager")


@pytest.mark.slow
def test_it_compiles_to_one_graph_without_the_kernel() -> None:
    run(COMPILE, "aot_eager", kernel=False)
