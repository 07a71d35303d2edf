"""The parallel form as a small C++ kernel, which comes with a wheel or is compiled on first use.

To PyTorch it is an operator like any other (see `operator`). Where there is neither a kernel nor a
compiler, or no CPU tensor, the same mathematics runs in plain PyTorch; `status` says which it is,
and why.
"""

import torch
from jaxtyping import Int
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn import Parameter

from tpr_rnn.memory.associations import Associations
from tpr_rnn.memory.native import build, operator
from tpr_rnn.memory.operations import Operation
from tpr_rnn.memory.plain import Pieces, Update
from tpr_rnn.memory.queries import Queries
from tpr_rnn.memory.states import DenseMemory


def usable(tensor: Tensor, operations: tuple[Operation, ...] = operator.OPERATIONS) -> bool:
    """Whether the kernel can work on such tensors, with these operations, here and now.

    While a graph is traced it can, even if it cannot be compiled: the operator then does the same
    in plain PyTorch. `torch.func` and forward-mode derivatives cannot look into it.
    """
    return (
        set(operations) <= set(operator.OPERATIONS)
        and tensor.device.type == "cpu"
        and tensor.dtype in (torch.float32, torch.float64)
        and not torch._C._are_functorch_transforms_active()
        and forward_ad._current_level < 0
        and (torch.compiler.is_compiling() or build.load().loaded)
    )


def status() -> str:
    """Which form runs on the CPU, for a person to read."""
    kernel = build.load()
    return f"{'native kernel' if kernel.loaded else 'plain PyTorch'} ({kernel.how})"


def update(
    associations: Associations,
    operations: tuple[Operation, ...],
    lengths: Int[Tensor, " b"] | None,
    state: DenseMemory | None,
    queries: Queries | None,
    pieces: Pieces,
    *,
    changes: bool = True,
) -> Update:
    """See `parallel`; the same as `plain.update`. Without `changes` those are not to be used."""
    table, story, entity_size = associations
    story = story.long()
    if queries is None:
        none = story.new_empty(0)
        asked = Queries(table.new_empty(0, entity_size), row=none, position=none, story=none)
    else:
        asked = queries
    inputs = (
        table,
        story,
        None if lengths is None else lengths.long(),
        None if state is None else state.tensor,
        asked.table,
        asked.row.long(),
        None if asked.story is None else asked.story.long(),
        asked.position.long(),
        asked.scale,
        asked.shift,
        entity_size,
        operator.mask(operations),
        pieces.chunk,
        pieces.longest_whole,
    )
    if observed(table):
        change, after, found = torch.ops.tpr_rnn.update(*inputs)
    else:
        change, after, found = operator.Direct.apply(*inputs, changes)
    return Update(
        change,
        None if state is None else DenseMemory(after),
        None if queries is None else found,
    )


def observed(table: Tensor) -> bool:
    """Whether somebody looks at each operator: a graph that is traced, or tensors of a kind."""
    return (
        torch.compiler.is_compiling()
        or torch._C._len_torch_dispatch_stack() > 0
        or type(table) not in (Tensor, Parameter)
    )
