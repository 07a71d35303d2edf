"""The slots of an EntNet over whole stories: step by step, and as a C++ kernel of the same.

Where the kernel can't be loaded, or the tensors are not on a CPU, the steps run in PyTorch.
"""

from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import embedding, normalize

from tpr_rnn.data.batches import StoryGroup
from tpr_rnn.memory.native import build

DIRECTORY = Path(__file__).parent


class Slots(NamedTuple):
    """What the slots depend on beside the story (eq. 2-5)."""

    sentences: Float[Tensor, "u d"]
    """s, each different sentence once."""
    from_sentence: Float[Tensor, "u d"]
    """W s"""
    match: Float[Tensor, "u m"]
    """s . w_j and the bias of the gate"""
    keys: Float[Tensor, "m d"]
    """w_j, with which h_j starts"""
    from_key: Float[Tensor, "m d"]
    """V w_j and the bias of the candidate"""
    u: Float[Tensor, "d d"]
    """U"""
    slope: Float[Tensor, " d"]
    """of phi"""


def states_at_questions(slots: Slots, group: StoryGroup) -> Float[Tensor, "q m d"]:
    """The slots of its story at the place of each question."""
    usable = slots.u.device.type == "cpu" and slots.u.dtype in (torch.float32, torch.float64)
    return (packed if usable and build.load(DIRECTORY).loaded else step_by_step)(slots, group)


def phi(x: Float[Tensor, "*b d"], slope: Float[Tensor, " d"]) -> Float[Tensor, "*b d"]:
    """PReLU with a slope for each dimension."""
    return torch.where(x > 0, x, slope * x)


def step_by_step(slots: Slots, group: StoryGroup) -> Float[Tensor, "q m d"]:
    """Eq. 2-5, one sentence at a time."""
    h = slots.keys.expand(len(group.story), -1, -1)
    states = [h]
    for row in group.story.unbind(dim=1):
        s = embedding(row, slots.sentences)
        g = torch.sigmoid((h @ s.unsqueeze(2)).squeeze(2) + embedding(row, slots.match))  # eq. 2
        told = embedding(row, slots.from_sentence).unsqueeze(1)
        candidate = phi(h @ slots.u.T + slots.from_key + told, slots.slope)  # eq. 3
        h = normalize(h + g.unsqueeze(2) * candidate, dim=2)  # eq. 4, 5
        states.append(h)
    return torch.stack(states)[group.position, group.about]


def packed(slots: Slots, group: StoryGroup) -> Float[Tensor, "q m d"]:
    """The same by the kernel, without padding: stories longest first, packed as it wants them."""
    story, lengths, about, position, _ = group
    by_length = lengths.argsort(descending=True, stable=True)
    rank = torch.empty_like(by_length)
    rank[by_length] = torch.arange(len(rank))
    reads = lengths[by_length] > torch.arange(story.shape[1]).unsqueeze(1)  # t b
    active = reads.sum(dim=1)
    active = active[active > 0]
    rows = story[by_length].T[reads]
    if torch.is_grad_enabled():
        h = _Read.apply(rows, len(story), active.tolist(), *slots)
    else:
        h = torch.ops.tpr_rnn_slots.read(rows, len(story), active.tolist(), *slots)[0]
    begin = torch.cat((active.new_tensor([0, len(story)]), len(story) + active.cumsum(0)))
    states: Tensor = h.view(-1, *slots.keys.shape)
    return states[begin[position] + rank[about]]


class _Read(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, story: Tensor, stories: int, active: list[int], *slots: Tensor) -> Tensor:
        given = [tensor.contiguous() for tensor in slots]
        kept: tuple[Tensor, ...] = torch.ops.tpr_rnn_slots.read(story, stories, active, *given)
        # V w_j is not needed again.
        ctx.save_for_backward(*kept, story, *given[:4], *given[5:])
        ctx.stories, ctx.active = stories, active
        return kept[0]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, outside: Tensor) -> tuple[Tensor | None, ...]:
        *kept, story, sentences, from_sentence, match, keys, u, slope = ctx.saved_tensors
        gradients = torch.ops.tpr_rnn_slots.read_backward(
            outside.contiguous(), *kept, story, ctx.stories, ctx.active,
            sentences, from_sentence, match, keys, u, slope,
        )  # fmt: skip
        return None, None, None, *gradients
