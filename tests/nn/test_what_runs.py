"""The layer as a citizen of PyTorch: the table "What runs where" in docs/layer.md, line by line."""

import copy
import io
import pickle
import subprocess
import sys
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor
from torch.func import functional_call

from nn.test_memory_layer import make_input, make_layer, make_state
from tpr_rnn.memory import native
from tpr_rnn.nn import MemoryState, TPRMemory

CLOSE = {"rtol": 1e-9, "atol": 1e-11}
LENGTHS = torch.tensor([5, 3])


@pytest.fixture
def layer() -> TPRMemory:
    return make_layer(operations=("write", "move", "backlink", "swap"))


def as_function(layer: TPRMemory):
    """The layer as a function of its parameters, its input and the state."""
    names = list(dict(layer.named_parameters()))

    def function(x: Tensor, state: Tensor, *parameters: Tensor) -> tuple[Tensor, Tensor]:
        given = dict(zip(names, parameters, strict=True))
        y, after = functional_call(
            layer, given, (x, MemoryState(state)), {"lengths": LENGTHS[: len(x)]}
        )
        return y, after.tensor

    return function, (make_input(2, 5), make_state(layer, 2).tensor, *layer.parameters())


def total(function):
    return lambda *inputs: sum((output**2).sum() for output in function(*inputs))


def test_first_and_second_derivatives_are_those_of_finite_differences(layer) -> None:
    function, inputs = as_function(layer)
    assert torch.autograd.gradcheck(function, inputs, fast_mode=True)
    assert torch.autograd.gradgradcheck(function, inputs, fast_mode=True)


def test_torch_func_gives_the_same_gradients(layer) -> None:
    function, inputs = as_function(layer)
    expected = torch.autograd.grad(total(function)(*inputs), inputs)
    found = torch.func.grad(total(function), argnums=tuple(range(len(inputs))))(*inputs)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, **CLOSE)


def test_vmap_gives_the_gradients_of_each_sample(layer) -> None:
    function, (x, state, *parameters) = as_function(layer)

    def of_one(x: Tensor, state: Tensor) -> Tensor:
        return total(function)(x[None], state[None], *parameters)

    each = torch.vmap(torch.func.grad(of_one))(x, state)
    for n in range(2):
        one = x[n].detach().requires_grad_()
        (expected,) = torch.autograd.grad(of_one(one, state[n]), one)
        torch.testing.assert_close(each[n], expected, **CLOSE)


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # of torch, about itself
def test_derivatives_in_a_direction(layer) -> None:
    function, inputs = as_function(layer)
    inputs = tuple(tensor.detach() for tensor in inputs)
    towards = tuple(torch.ones_like(tensor) for tensor in inputs)
    step = 1e-6
    _, found = torch.func.jvp(function, inputs, towards)
    ahead, behind = (
        function(*(x + sign * step * d for x, d in zip(inputs, towards, strict=True)))
        for sign in (1, -1)
    )
    for one, plus, minus in zip(found, ahead, behind, strict=True):
        torch.testing.assert_close(one, (plus - minus) / (2 * step), rtol=1e-5, atol=1e-5)


def test_autocast_gives_half_precision_and_keeps_the_state_in_single(layer) -> None:
    layer, x = layer.float(), make_input(2, 5).float()
    expected, _ = layer(x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y, state = layer(x)
    assert (y.dtype, state.tensor.dtype) == (torch.bfloat16, torch.float32)
    torch.testing.assert_close(y.float(), expected, rtol=0.1, atol=0.1)
    y.sum().backward()
    assert all(parameter.grad.dtype == torch.float32 for parameter in layer.parameters())


def test_a_layer_of_bfloat16_keeps_the_state_in_single(layer) -> None:
    layer, x = layer.bfloat16(), make_input(2, 5).detach().bfloat16()
    y, state = layer(x)
    _, again = layer(x, state.to(torch.bfloat16))
    assert (y.dtype, again.tensor.dtype) == (torch.bfloat16, torch.float32)
    y.sum().backward()
    assert all(parameter.grad.dtype == torch.bfloat16 for parameter in layer.parameters())


def test_parameters_are_saved_loaded_copied_and_pickled(layer) -> None:
    x = make_input(2, 5)
    expected, _ = layer(x)
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    other = make_layer(seed=1, operations=layer.operations)
    other.load_state_dict(torch.load(file))
    for again in (other, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        torch.testing.assert_close(again(x)[0], expected)


def test_gradient_checkpointing_changes_nothing(layer) -> None:
    from torch.utils.checkpoint import checkpoint

    x, parameters = make_input(2, 5), list(layer.parameters())
    expected = torch.autograd.grad(layer(x)[0].sum(), parameters)
    y, _ = checkpoint(layer, x, use_reentrant=False)
    for one, other in zip(torch.autograd.grad(y.sum(), parameters), expected, strict=True):
        torch.testing.assert_close(one, other, **CLOSE)


def test_other_devices_are_served_by_plain_pytorch(layer) -> None:
    """The meta device has shapes and no numbers."""
    y, state = layer.to("meta")(make_input(2, 5).detach().to("meta"))
    assert (y.device.type, state.tensor.device.type) == ("meta", "meta")


# The packages are not under the shape checks of the tests in here, which cannot be traced.
START = """
import io, sys, warnings
import torch
from tpr_rnn.nn import MemoryState, TPRMemory
warnings.simplefilter("error", UserWarning)
torch.manual_seed(0)
layer = TPRMemory(8, entity_size=5, relation_size=3, heads=2, hops=2)


def inputs(batch, time):
    state = layer.empty_state(batch)
    state = MemoryState(torch.randn_like(state.tensor) / 9)
    return torch.randn(batch, time, 8), state, torch.randint(time + 1, (batch,))


def outputs(form, x, state, lengths, gradients=True):
    y, after = form(x, state, lengths=lengths)
    found = [y, after.tensor]
    if gradients:
        found += torch.autograd.grad(y.sum() + after.tensor.sum(), layer.parameters())
    return found


def compare(form, batch, time, gradients=True):
    given = inputs(batch, time)
    pairs = zip(outputs(form, *given, gradients), outputs(layer, *given, gradients))
    for one, other in pairs:
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)
"""
COMPILE = """
compiled = torch.compile(layer, fullgraph=True, dynamic=True, backend=sys.argv[1])
for time in (9, 90):
    compare(compiled, 3, time)
"""
EXPORT = """
b, t = torch.export.Dim("b"), torch.export.Dim("t")
shapes = {"x": {0: b, 1: t}, "state": [{0: b}], "lengths": {0: b}}
x, state, lengths = inputs(3, 9)
exported = torch.export.export(
    layer, (x, state), {"lengths": lengths}, dynamic_shapes=shapes, strict=False
)
file = io.BytesIO()
torch.export.save(exported, file)
file.seek(0)
loaded = torch.export.load(file).module()
for batch, time in ((3, 9), (5, 4), (2, 90)):
    compare(loaded, batch, time, gradients=False)
"""
PARALLEL = """
from torch import distributed
rank = int(sys.argv[1])
distributed.init_process_group("gloo", init_method=f"file://{sys.argv[2]}", rank=rank, world_size=2)
wrapped = torch.nn.parallel.DistributedDataParallel(layer)
x, state, lengths = inputs(6, 9)  # the same in both processes: each takes its half
own = slice(3 * rank, 3 * rank + 3)
y, after = wrapped(x[own], state[own], lengths=lengths[own])
(y.sum() + after.tensor.sum()).backward()
found = [parameter.grad.clone() for parameter in layer.parameters()]
y, after = layer(x, state, lengths=lengths)
expected = torch.autograd.grad((y.sum() + after.tensor.sum()) / 2, layer.parameters())
for one, other in zip(found, expected, strict=True):
    torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)
distributed.destroy_process_group()
"""


def run(script: str, *each: Sequence[str]) -> None:
    """Run a script in a process for each list of arguments, all at the same time."""
    begun = [
        subprocess.Popen(
            [sys.executable, "-c", START + script, *arguments], stderr=subprocess.PIPE, text=True
        )
        for arguments in each
    ]
    for process in begun:
        _, problem = process.communicate(timeout=600)
        assert process.returncode == 0, problem


@pytest.mark.slow
def test_it_compiles_to_one_graph() -> None:
    run(COMPILE, ["inductor" if native.usable(torch.zeros(1)) else "aot_eager"])


@pytest.mark.slow
def test_it_is_exported_for_any_length() -> None:
    run(EXPORT, [])


@pytest.mark.slow
def test_it_trains_in_several_processes(tmp_path) -> None:
    run(PARALLEL, *([rank, str(tmp_path / "meeting")] for rank in ("0", "1")))
