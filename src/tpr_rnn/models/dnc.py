"""The differentiable neural computer (Graves et al., Nature 2016), reading stories word by word.

Its controller is in `controller`, its addressing in `addressing`; here is what happens in the
memory at a word. Symbols are those of the paper's Methods. Two of the settings are later
improvements and off by default: `deallocate` (Csordas & Schmidhuber, 2019) and, without the links,
`links` (Franke et al., 2018).
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from tpr_rnn.models import native
from tpr_rnn.models.addressing import (
    allocation,
    along,
    content_weighting,
    new_link,
    new_precedence,
    new_usage,
    oneplus,
    retention,
    written,
)
from tpr_rnn.models.controller import ControllerConfig, MemoryController


@dataclass(frozen=True, kw_only=True)
class DNCConfig(ControllerConfig):
    """Sizes and settings of a DNC; the defaults are the paper's on bAbI."""

    links: bool = True
    """Whether read heads can follow the order in which locations were written."""
    deallocate: bool = False
    """Erase what a location holds as it is freed; else it can still be found by its content. Not in
    the paper."""

    def summary(self) -> str:
        """The sizes, for a person to read."""
        links = "" if self.links else ", no links"
        return super().summary() + links + (", de-allocation" if self.deallocate else "")


class Interface(NamedTuple):
    """The parts of the interface vector xi_t, each in its range."""

    read_keys: Float[Tensor, "b i d"]
    write_key: Float[Tensor, "b d"]
    write_vector: Float[Tensor, "b d"]
    read_strengths: Float[Tensor, "b i"]
    write_strength: Float[Tensor, "b 1"]
    erase: Float[Tensor, "b d"]
    free_gates: Float[Tensor, "b i"]
    allocation_gate: Float[Tensor, "b 1"]
    write_gate: Float[Tensor, "b 1"]
    read_modes: Float[Tensor, "b i m"]
    """Backward, content, forward; none of them without links."""

    @staticmethod
    def sizes(config: DNCConfig) -> tuple[int, ...]:
        """How many numbers each part has."""
        heads, size = config.read_heads, config.location_size
        modes = 3 * heads if config.links else 0
        return heads * size, size, size, heads, 1, size, heads, 1, 1, modes

    @staticmethod
    def of(xi: Float[Tensor, "b z"], config: DNCConfig) -> "Interface":
        """Take an interface vector apart."""
        parts = xi.split(Interface.sizes(config), dim=1)
        return Interface(
            read_keys=parts[0].unflatten(1, (config.read_heads, config.location_size)),
            write_key=parts[1],
            write_vector=parts[2],
            read_strengths=oneplus(parts[3]),
            write_strength=oneplus(parts[4]),
            erase=parts[5].sigmoid(),
            free_gates=parts[6].sigmoid(),
            allocation_gate=parts[7].sigmoid(),
            write_gate=parts[8].sigmoid(),
            read_modes=parts[9].unflatten(1, (config.read_heads, -1)).softmax(dim=2),
        )


class DNCMemory(NamedTuple):
    """The memory after a word."""

    memory: Float[Tensor, "b n d"]
    usage: Float[Tensor, "b n"]
    precedence: Float[Tensor, "b n"]
    link: Float[Tensor, "b n n"]
    write: Float[Tensor, "b n"]
    """The last write weighting, w^w."""
    read: Float[Tensor, "b i n"]
    """The last read weightings, w^r,i."""


class DNC(MemoryController):
    """Reads a story once, word by word, and answers each question behind its last word."""

    config: DNCConfig

    def __init__(self, config: DNCConfig, *, generator: torch.Generator | None = None) -> None:
        """Make a model with fresh parameters; `generator` is where their randomness comes from."""
        super().__init__(config, sum(Interface.sizes(config)), generator=generator)

    def empty_memory(self, inputs: Float[Tensor, "w b g"]) -> DNCMemory:
        """The memory before the first word: all zero."""
        stories, n = inputs.shape[1], self.config.locations
        empty = inputs.new_zeros(stories, n)
        return DNCMemory(
            memory=inputs.new_zeros(stories, n, self.config.location_size),
            usage=empty,
            precedence=empty,
            link=inputs.new_zeros(stories, n, n),
            write=empty,
            read=inputs.new_zeros(stories, self.config.read_heads, n),
        )

    def step(
        self, interface: Float[Tensor, "b z"], state: DNCMemory
    ) -> tuple[Float[Tensor, "b i d"], DNCMemory]:
        """Write, then read."""
        xi, (memory, usage, precedence, link, write, read) = (
            Interface.of(interface, self.config),
            state,
        )
        # Dynamic memory allocation.
        kept = retention(xi.free_gates, read)  # psi_t
        usage = new_usage(usage, write, kept)  # u_t
        # Write: to a free location, or to one found by its content.
        found = content_weighting(memory, xi.write_key.unsqueeze(1), xi.write_strength).squeeze(1)
        g_a, g_w = xi.allocation_gate, xi.write_gate
        write = g_w * (g_a * allocation(usage) + (1 - g_a) * found)  # w^w_t
        if self.config.deallocate:
            memory = memory * kept.unsqueeze(2)
        memory = written(memory, write, xi.erase, xi.write_vector)
        # Read: by content, or along the links, after or before what was read last.
        content = content_weighting(memory, xi.read_keys, xi.read_strengths)
        if self.config.links:
            link = new_link(link, write, precedence)
            precedence = new_precedence(precedence, write)
            forward, backward = along(link, read)
            pi = xi.read_modes.unsqueeze(3)
            read = pi[:, :, 0] * backward + pi[:, :, 1] * content + pi[:, :, 2] * forward  # w^r_t
        else:
            read = content
        return read @ memory, DNCMemory(memory, usage, precedence, link, write, read)

    def native_memory(self) -> native.Memory:
        """The memory as the C++ kernel knows it."""
        config = self.config
        settings = config.links, config.deallocate
        return native.Memory(False, config.locations, config.location_size, settings)
