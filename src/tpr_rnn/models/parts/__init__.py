"""Encoding sentences and taking them apart as a C++ kernel.

It does what `SentenceEncoder` and `EntityRelationNetworks` do in PyTorch, which stay the definition
and run wherever it cannot serve.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tpr_rnn.memory import native
from tpr_rnn.memory.native import build

DIRECTORY = Path(__file__).parent

Plain = Callable[..., Tensor]
"""The same in PyTorch, for derivatives of derivatives."""


Settings = tuple[Tensor | None, bool, bool]
"""Dropout of the hidden layers, linear, bounded."""


def usable(*tensors: Tensor) -> bool:
    """Whether the kernel can work on such tensors of numbers here and now.

    A graph that is traced, or a mode that looks at each operation, gets them in PyTorch.
    """
    if torch.compiler.is_compiling():
        return False
    first = tensors[0]
    return (
        all(each.dtype == first.dtype and not native.observed(each) for each in tensors)
        and native.usable(first)
        and not torch.is_autocast_enabled("cpu")
        and build.load(DIRECTORY).loaded
    )


def encode(plain: Plain, texts: Tensor, *vectors: Tensor) -> Tensor:
    """See `encoder.encode`."""
    made: Tensor = _Encode.apply(plain, texts, *vectors)
    return made


def take_apart(plain: Plain, inputs: tuple[Tensor, ...], settings: Settings) -> Tensor:
    """See `networks.take_apart`."""
    made: Tensor = _TakeApart.apply(plain, settings, *inputs)
    return made


class _Encode(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, plain: Plain, texts: Tensor, *vectors: Tensor) -> Tensor:
        ctx.plain = plain
        ctx.save_for_backward(texts, *vectors)
        made: Tensor = build.call(torch.ops.tpr_rnn_parts.encode, texts, *vectors)
        return made

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        texts, *vectors = ctx.saved_tensors
        if torch.is_grad_enabled():
            return None, None, *_gradients_with_graph(lambda *of: ctx.plain(texts, *of), vectors, g)
        return None, None, *torch.ops.tpr_rnn_parts.encode_backward(g, texts, *vectors)


class _TakeApart(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, plain: Plain, settings: Settings, *inputs: Tensor) -> Tensor:
        apart, hidden, lengths = torch.ops.tpr_rnn_parts.take_apart(*inputs, *settings)
        ctx.plain, ctx.settings = plain, settings
        ctx.save_for_backward(apart, hidden, lengths, *inputs)
        made: Tensor = apart
        return made

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        apart, hidden, lengths, *inputs = ctx.saved_tensors
        if torch.is_grad_enabled():
            again = _gradients_with_graph(lambda *of: ctx.plain(*of, *ctx.settings), inputs, g)
            return None, None, *again
        sentences, hidden_weight, _, entity_weight, _, relation_weight, _ = inputs
        weights = hidden_weight, entity_weight, relation_weight
        return (
            None,
            None,
            *torch.ops.tpr_rnn_parts.take_apart_backward(
                g, apart, hidden, lengths, sentences, *weights, *ctx.settings
            ),
        )


def _gradients_with_graph(
    plain: Plain, inputs: list[Tensor], g: Tensor
) -> tuple[Tensor | None, ...]:
    """Asked for with `create_graph`, gradients need gradients themselves."""
    there = [tensor for tensor in inputs if tensor.requires_grad]
    found = iter(torch.autograd.grad(plain(*inputs), there, g, create_graph=True))
    return tuple(next(found) if tensor.requires_grad else None for tensor in inputs)
