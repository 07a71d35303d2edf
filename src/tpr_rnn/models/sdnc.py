"""The sparse differentiable neural computer (Rae et al., NIPS 2016), reading stories word by word.

It reads few locations at a word, writes to those that it has just read or to the one that was least
recently accessed, and keeps a few links of each location. Equation numbers are the paper's, most of
them of its supplement D. What the paper leaves open, and what is done here:

* One write head as in the DNC, which writes to the mean of what the read heads have read.
* The nearest K locations share the whole weight of a content lookup, as with an index of nearest
  neighbours, and a read weighting keeps its K largest entries.
* The rows of N (eq. 19) do not lose a link when its source is overwritten, so that several
  locations may follow one. A forward weighting that adds up to more than 1 is scaled to 1.
* Links have no diagonal, as in eq. 13.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from tpr_rnn.models import native
from tpr_rnn.models.addressing import cosine, new_precedence, oneplus
from tpr_rnn.models.controller import ControllerConfig, MemoryController

ACCESS = 0.005
"""delta: a location is accessed where read and write weights add up to more than this."""


@dataclass(frozen=True, kw_only=True)
class SDNCConfig(ControllerConfig):
    """Sizes and settings of an SDNC; those on bAbI were not published."""

    reads: int = 4
    """Locations that a read head reads (K)."""
    links: int = 8
    """Links that are kept of a location, either way (K_L)."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        super().__post_init__()
        self.check_sizes("reads", "links")

    def summary(self) -> str:
        """The sizes, for a person to read."""
        return f"{super().summary()}, {self.reads} reads, {self.links} links"


class Interface(NamedTuple):
    """The parts of the interface vector, each in its range."""

    keys: Float[Tensor, "b i d"]
    """q_t"""
    vector: Float[Tensor, "b d"]
    """a_t"""
    strengths: Float[Tensor, "b i"]
    interpolation: Float[Tensor, "b 1"]
    """gamma_t"""
    write_gate: Float[Tensor, "b 1"]
    """alpha_t"""
    read_modes: Float[Tensor, "b i 3"]
    """Backward, content, forward."""

    @staticmethod
    def sizes(config: SDNCConfig) -> tuple[int, ...]:
        """How many numbers each part has."""
        heads, size = config.read_heads, config.location_size
        return heads * size, size, heads, 1, 1, 3 * heads

    @staticmethod
    def of(xi: Float[Tensor, "b z"], config: SDNCConfig) -> "Interface":
        """Take an interface vector apart."""
        parts = xi.split(Interface.sizes(config), dim=1)
        return Interface(
            keys=parts[0].unflatten(1, (config.read_heads, config.location_size)),
            vector=parts[1],
            strengths=oneplus(parts[2]),
            interpolation=parts[3].sigmoid(),
            write_gate=parts[4].sigmoid(),
            read_modes=parts[5].unflatten(1, (config.read_heads, 3)).softmax(dim=2),
        )


class SDNCMemory(NamedTuple):
    """The memory after a word."""

    memory: Float[Tensor, "b n d"]
    accessed: Float[Tensor, "b n"]
    """The word at which each location was last accessed."""
    precedence: Float[Tensor, "b n"]
    next: Float[Tensor, "b n n"]
    """N: for each location, the few that were written before it."""
    previous: Float[Tensor, "b n n"]
    """P: for each location, the few that were written after it."""
    read: Float[Tensor, "b i n"]
    """The last read weightings."""
    words: int
    """How many words have been read."""


class SDNC(MemoryController):
    """Reads a story once, word by word, and answers each question behind its last word."""

    config: SDNCConfig

    def __init__(self, config: SDNCConfig, *, generator: torch.Generator | None = None) -> None:
        """Make a model with fresh parameters; `generator` is where their randomness comes from."""
        super().__init__(config, sum(Interface.sizes(config)), generator=generator)

    def empty_memory(self, inputs: Float[Tensor, "w b g"]) -> SDNCMemory:
        """The memory before the first word: all zero."""
        stories, n = inputs.shape[1], self.config.locations
        empty = inputs.new_zeros(stories, n)
        return SDNCMemory(
            memory=inputs.new_zeros(stories, n, self.config.location_size),
            accessed=empty,
            precedence=empty,
            next=inputs.new_zeros(stories, n, n),
            previous=inputs.new_zeros(stories, n, n),
            read=inputs.new_zeros(stories, self.config.read_heads, n),
            words=0,
        )

    def step(
        self, interface: Float[Tensor, "b z"], state: SDNCMemory
    ) -> tuple[Float[Tensor, "b i d"], SDNCMemory]:
        """Write, then read."""
        config, xi, words = self.config, Interface.of(interface, self.config), state.words + 1
        oldest = _largest(-state.accessed, 1)  # I^U
        # Write: to what was read last, or to the least recently accessed location (eq. 5, 8).
        gamma = xi.interpolation
        write = xi.write_gate * (gamma * state.read.mean(dim=1) + (1 - gamma) * oldest)
        memory = state.memory * (1 - oldest).unsqueeze(2)
        memory = memory + write.unsqueeze(2) * xi.vector.unsqueeze(1)
        following, previous = _linked(state, write.detach(), config.links)
        precedence = new_precedence(state.precedence, write.detach())  # eq. 11
        precedence = precedence * _largest(precedence, config.links)
        # Read: by content, or along the links (eq. 21, 22).
        scores = cosine(memory, xi.keys)
        near = _largest(scores.detach(), config.reads)
        scores = (xi.strengths.unsqueeze(2) * scores).masked_fill(near == 0, -torch.inf)
        forward, backward = state.read @ following.mT, state.read @ previous.mT
        forward = forward / forward.detach().sum(dim=2, keepdim=True).clamp(min=1)
        pi = xi.read_modes.unsqueeze(3)
        read = pi[:, :, 0] * backward + pi[:, :, 1] * scores.softmax(dim=2) + pi[:, :, 2] * forward
        read = read * _largest(read.detach(), config.reads)
        used = (write + read.mean(dim=1)).detach() > ACCESS
        accessed = torch.where(used, float(words), state.accessed)
        return read @ memory, SDNCMemory(
            memory, accessed, precedence, following, previous, read, words
        )

    def native_memory(self) -> native.Memory:
        """The memory as the C++ kernel knows it."""
        config = self.config
        settings = config.reads, config.links
        return native.Memory(True, config.locations, config.location_size, settings)


def _linked(
    state: SDNCMemory, write: Float[Tensor, "b n"], links: int
) -> tuple[Float[Tensor, "b n n"], Float[Tensor, "b n n"]]:
    """N and P after a write (eq. 19, 20), without gradients."""
    row, column = write.unsqueeze(2), write.unsqueeze(1)
    precedence = state.precedence
    following = (1 - row) * state.next + row * precedence.unsqueeze(1)
    previous = (1 - column) * state.previous + column * precedence.unsqueeze(2)
    others = 1 - torch.eye(write.shape[1], dtype=write.dtype, device=write.device)
    following, previous = following * others, previous * others
    return following * _largest(following, links), previous * _largest(previous, links)


def _largest(x: Float[Tensor, "*axes n"], count: int) -> Float[Tensor, "*axes n"]:
    """1 for the largest so many entries of each row, of equal ones the first; 0 for the others."""
    chosen: Int[Tensor, "*axes k"] = x.sort(dim=-1, descending=True, stable=True).indices
    return torch.zeros_like(x).scatter(-1, chosen[..., :count], 1.0)
