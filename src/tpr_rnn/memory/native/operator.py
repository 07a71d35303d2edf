"""The kernel as a citizen of PyTorch: `torch.ops.tpr_rnn.update`, with shapes and gradients.

So `torch.compile` and `torch.export` take it as it is. What it computes is known here twice: in
C++, and in plain PyTorch for machines that cannot compile it and for derivatives of derivatives.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tpr_rnn.memory import plain
from tpr_rnn.memory.associations import Associations
from tpr_rnn.memory.native import build
from tpr_rnn.memory.operations import Operation
from tpr_rnn.memory.queries import Queries
from tpr_rnn.memory.states import DenseMemory

LIBRARY = torch.library.Library("tpr_rnn", "DEF")
INPUTS = (
    "Tensor table, Tensor story, Tensor? lengths, Tensor? state, Tensor asked, Tensor row, "
    "Tensor? about, Tensor position, Tensor? scale, Tensor? shift, int entity_size, "
    "int operations, int chunk, int longest_whole"
)
LIBRARY.define(f"update({INPUTS}) -> (Tensor change, Tensor state, Tensor found)")
LIBRARY.define(
    f"update_backward(Tensor? g_change, Tensor? g_state, Tensor? g_found, Tensor change, {INPUTS}) "
    "-> (Tensor table, Tensor state, Tensor asked, Tensor norm)"
)
TABLE, STATE, ASKED, SCALE, SHIFT = 0, 3, 4, 8, 9
"""The inputs that have gradients."""


OPERATIONS: tuple[Operation, ...] = ("write", "move", "backlink", "swap")
"""Those that the kernel knows (see rows.h), in the order of its bits."""


def mask(operations: tuple[Operation, ...]) -> int:
    """The operations as the kernel wants them: a bit each."""
    return sum(1 << OPERATIONS.index(name) for name in operations)


def _kernel(*inputs: Any) -> tuple[Tensor, Tensor, Tensor]:
    outputs: tuple[Tensor, Tensor, Tensor] = build.call(torch.ops.tpr_rnn_native.update, *inputs)
    return outputs


def _kernel_backward(*inputs: Any) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    gradients: tuple[Tensor, Tensor, Tensor, Tensor] = build.call(
        torch.ops.tpr_rnn_native.update_backward, *inputs
    )
    return gradients


def _update(*inputs: Any) -> tuple[Tensor, Tensor, Tensor]:
    if build.load().loaded:
        return _kernel(*inputs, True)
    return _plain(*inputs)


def _update_backward(
    g_change: Tensor | None,
    g_state: Tensor | None,
    g_found: Tensor | None,
    change: Tensor,
    *inputs: Any,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    if build.load().loaded:
        return _kernel_backward(g_change, g_state, g_found, change, *inputs)
    fresh = list(inputs)
    for place in (TABLE, STATE, ASKED, SCALE, SHIFT):
        if fresh[place] is not None:
            fresh[place] = fresh[place].detach().requires_grad_()
    of = _plain_gradients((g_change, g_state, g_found), tuple(fresh), create_graph=False)
    table, state, asked, scale, shift = (
        inputs[TABLE].new_zeros(0) if gradient is None else gradient for gradient in of
    )
    return table, state, asked, torch.stack((scale, shift))


def _shapes(*inputs: Any) -> tuple[Tensor, Tensor, Tensor]:
    table, story, _, state, asked, row = inputs[:6]
    entity_size, operations = inputs[10:12]
    relation_size = (table.shape[1] - 2 * entity_size) // 3
    hops = (asked.shape[1] - entity_size) // relation_size
    change = table.new_empty(*story.shape, operations.bit_count(), entity_size)
    after = table.new_empty(0) if state is None else table.new_empty(state.shape)
    return change, after, table.new_empty(row.shape[0], hops, entity_size)


def _backward_shapes(*inputs: Any) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    table, _, _, state, asked = inputs[4:9]
    _, _, found = _shapes(*inputs[4:])
    return (
        table.new_empty(table.shape),
        table.new_empty(0) if state is None else table.new_empty(state.shape),
        table.new_empty(asked.shape),
        table.new_empty(2, found.shape[1]),
    )


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(output[0], *inputs[:10])
    ctx.settings = inputs[10:]


def _registered_gradients(ctx: Any, *outside: Tensor | None) -> tuple[Tensor | None, ...]:
    return _gradients(ctx, outside, torch.ops.tpr_rnn.update_backward)


def _gradients(
    ctx: Any, outside: tuple[Tensor | None, ...], backward: Callable[..., Any]
) -> tuple[Tensor | None, ...]:
    change, *tensors = ctx.saved_tensors
    inputs = (*tensors, *ctx.settings)
    if torch.is_grad_enabled():  # asked for with `create_graph`: they need gradients themselves
        table, state, asked, scale, shift = _plain_gradients(outside, inputs, create_graph=True)
    else:
        table, state, asked, norm = backward(*outside, change, *inputs)
        scale, shift = norm.unbind()
    gradients: list[Tensor | None] = [None] * len(inputs)
    for place, gradient in zip(
        (TABLE, STATE, ASKED, SCALE, SHIFT), (table, state, asked, scale, shift), strict=True
    ):
        gradients[place] = gradient if ctx.needs_input_grad[place] else None
    return tuple(gradients)


class Direct(torch.autograd.Function):
    """The kernel without a detour: a registered operator takes some tenth of a millisecond more.

    Its last input says whether changes behind the ends of stories are wanted, as zeros.
    """

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> tuple[Tensor, Tensor, Tensor]:
        """What the kernel makes of stories and queries."""
        outputs = _kernel(*inputs)
        _keep(ctx, inputs[:-1], outputs)
        return outputs

    @staticmethod
    def backward(ctx: Any, *outside: Tensor | None) -> tuple[Tensor | None, ...]:
        """The gradients, and that of the last input: none."""
        return *_gradients(ctx, outside, _update_backward), None


def _plain(*inputs: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The operator in plain PyTorch."""
    table, story, lengths, state, asked, row, about, position, scale, shift = inputs[:10]
    entity_size, operations, chunk, longest_whole = inputs[10:]
    queries = None
    if asked.shape[1] > entity_size:
        queries = Queries(asked, row, position, about, scale, shift)
    made = plain.update(
        Associations(table, story, entity_size),
        tuple(name for bit, name in enumerate(OPERATIONS) if operations >> bit & 1),
        lengths,
        None if state is None else DenseMemory(state),
        queries,
        plain.Pieces(longest_whole, chunk),
    )
    return (
        made.change,
        table.new_empty(0) if made.state is None else made.state.tensor,
        table.new_empty(0, 0, entity_size) if made.found is None else made.found,
    )


def _plain_gradients(
    outside: tuple[Tensor | None, ...], inputs: tuple[Any, ...], *, create_graph: bool
) -> list[Tensor | None]:
    """Those of table, state, asked, scale and shift; None where an input is not there."""
    with torch.enable_grad(), torch.autocast("cpu", enabled=False):
        outputs = _plain(*inputs)
        pairs = [
            (output, gradient)
            for output, gradient in zip(outputs, outside, strict=True)
            if gradient is not None and output.requires_grad
        ]
        wanted = [inputs[place] for place in (TABLE, STATE, ASKED, SCALE, SHIFT)]
        there = [tensor for tensor in wanted if tensor is not None and tensor.requires_grad]
        found = torch.autograd.grad(
            [output for output, _ in pairs],
            there,
            [gradient for _, gradient in pairs],
            create_graph=create_graph,
            materialize_grads=True,
        )
    gradients = iter(found)
    return [
        next(gradients) if tensor is not None and tensor.requires_grad else None
        for tensor in wanted
    ]


LIBRARY.impl("update", _update, "CPU")
LIBRARY.impl("update_backward", _update_backward, "CPU")
torch.library.register_fake("tpr_rnn::update", _shapes, lib=LIBRARY)
torch.library.register_fake("tpr_rnn::update_backward", _backward_shapes, lib=LIBRARY)
torch.library.register_autograd(
    "tpr_rnn::update", _registered_gradients, setup_context=_keep, lib=LIBRARY
)
