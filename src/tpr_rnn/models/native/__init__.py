"""An LSTM with a memory over whole stories, as a C++ kernel.

It does what the loop in `controller` does, with gradients written by hand. Where it cannot be
compiled, or the tensors are not on a CPU, that loop runs.
"""

from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from tpr_rnn.memory.native import build

DIRECTORY = Path(__file__).parent


class Memory(NamedTuple):
    """A memory as the kernel knows it."""

    sparse: bool
    """That of the SDNC, not of the DNC."""
    locations: int
    location_size: int
    settings: tuple[int, ...]


def usable(tensor: Tensor) -> bool:
    """Whether the kernel can work on such tensors here and now."""
    return (
        tensor.device.type == "cpu"
        and tensor.dtype in (torch.float32, torch.float64)
        and build.load(DIRECTORY).loaded
    )


def read(
    inputs: Float[Tensor, "w b g"],
    lengths: Int[Tensor, " b"],
    read_weight: Float[Tensor, "g c"],
    hidden_weight: Float[Tensor, "g h"],
    interface_weight: Float[Tensor, "z h"],
    interface_bias: Float[Tensor, " z"],
    memory: Memory,
) -> tuple[Float[Tensor, "w b h"], Float[Tensor, "w b c"]]:
    """See `MemoryController.read`; zero behind the end of a story."""
    heads = read_weight.shape[1] // memory.location_size
    sizes = heads, memory.locations, memory.location_size
    settings = memory.sparse, sizes, memory.settings
    weights = (read_weight, hidden_weight, interface_weight, interface_bias)
    if torch.is_grad_enabled():
        h, r = _Read.apply(inputs, lengths, *weights, *settings)
    else:
        operator = torch.ops.tpr_rnn_controller.read
        h, r, *_ = build.call(operator, inputs, lengths, *weights, *settings, False)
    return h, r


class _Read(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, lengths: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
        kept = build.call(torch.ops.tpr_rnn_controller.read, inputs, lengths, *rest, True)
        ctx.save_for_backward(*kept, lengths, *rest[:3])
        ctx.settings = rest[4:]
        return kept[0], kept[1]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g_h: Tensor, g_r: Tensor) -> tuple[Tensor | None, ...]:
        h, r, *_ = saved = ctx.saved_tensors
        gates, interfaces = torch.ops.tpr_rnn_controller.read_backward(
            g_h, g_r, *saved, *ctx.settings
        )
        later, interface = gates[1:].flatten(0, 1), interfaces.flatten(0, 1)
        return (
            gates,
            None,
            later.T @ r[:-1].flatten(0, 1),
            later.T @ h[:-1].flatten(0, 1),
            interface.T @ h.flatten(0, 1),
            interface.sum(dim=0),
            None,
            None,
            None,
        )
