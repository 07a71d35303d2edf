"""An LSTM that reads words and has an external memory: what the DNC and the SDNC have in common.

At each word the controller sees the word and what the read heads found at the last one, and tells
the memory by the *interface vector* what to do:

    chi_t = [x_t; r^1_{t-1}; ...; r^R_{t-1}]
    h_t   = LSTM(chi_t, h_{t-1})
    xi_t  = W_xi h_t                            the interface vector
    r_t   = memory(xi_t)                        R read vectors
    y_t   = W_y h_t + W_r [r^1_t; ...; r^R_t]   looked at behind each question

(Graves et al., Nature 2016, Methods.) Words are one-hot, so that their part of the LSTM is a row of
a table.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import embedding, linear

from tpr_rnn.data.batches import Batch
from tpr_rnn.data.word_stream import WordStream, word_stream
from tpr_rnn.models import native
from tpr_rnn.models.model import Model, ModelConfig


@dataclass(frozen=True, kw_only=True)
class ControllerConfig(ModelConfig):
    """Sizes of the controller and of its memory; the defaults are those of the DNC on bAbI."""

    hidden_size: int = 256
    """Units of the LSTM."""
    locations: int = 256
    """Locations of the memory (N)."""
    location_size: int = 64
    """Numbers that a location holds (W)."""
    read_heads: int = 4
    """Read heads (R)."""
    bypass_dropout: float = 0.0
    """Share of the state of the LSTM that is left out in training where it goes to the answer, so
    that the answer must come from the memory. Not in the papers."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        self.check_sizes("vocabulary_size", "max_words", "hidden_size")
        self.check_sizes("locations", "location_size", "read_heads")
        self.check_shares("bypass_dropout")

    def summary(self) -> str:
        """The sizes, for a person to read."""
        memory = f"memory {self.locations} x {self.location_size}, {self.read_heads} read heads"
        return f"hidden {self.hidden_size}, {memory}"


class MemoryController(Model):
    """Reads a story once, word by word, and answers each question behind its last word."""

    config: ControllerConfig
    interface_size: int

    def __init__(
        self,
        config: ControllerConfig,
        interface_size: int,
        *,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(config, generator=generator)
        vocabulary, hidden = config.vocabulary_size, config.hidden_size
        found = config.read_heads * config.location_size

        def weight(*sizes: int, bound: float = hidden**-0.5) -> nn.Parameter:
            return nn.Parameter(torch.empty(sizes).uniform_(-bound, bound, generator=generator))

        # The gates of the LSTM are i, f, o and the candidate g. With small weights all words would
        # open the same gates at first, and it would take long to tell them apart.
        self.word_weight = weight(vocabulary, 4 * hidden, bound=0.7)
        self.gate_bias = nn.Parameter(torch.zeros(4 * hidden))
        self.read_weight = weight(4 * hidden, found)
        self.hidden_weight = weight(4 * hidden, hidden)
        self.interface_weight = weight(interface_size, hidden)
        self.interface_bias = nn.Parameter(torch.zeros(interface_size))
        self.bypass_dropout = nn.Dropout(config.bypass_dropout)
        self.output_weight = weight(vocabulary, hidden)  # W_y
        self.output_read_weight = weight(vocabulary, found)  # W_r
        with torch.no_grad():
            self.gate_bias[hidden : 2 * hidden] = 1.0  # a forget gate that starts open

    def forward(self, batch: Batch) -> Float[Tensor, "n v"]:
        """The scores (logits) of every word as the answer to every question of the batch."""
        return torch.cat([self._answers(word_stream(batch, group)) for group in batch.groups])

    def _answers(self, stream: WordStream) -> Float[Tensor, "q v"]:
        # Time comes first, and the longest story, so that the stories that are still going on at a
        # word are the first rows.
        lengths, order = stream.lengths.sort(descending=True, stable=True)
        inputs = embedding(stream.words[order].T, self.word_weight) + self.gate_bias
        h, r = self.read(inputs, lengths)
        row = torch.empty_like(order)
        row[order] = torch.arange(len(order), device=order.device)
        at = (stream.at, row[stream.about])
        seen = self.bypass_dropout(h[at])
        return linear(seen, self.output_weight) + linear(r[at], self.output_read_weight)

    def read(
        self, inputs: Float[Tensor, "w b g"], lengths: Int[Tensor, " b"]
    ) -> tuple[Float[Tensor, "w b h"], Float[Tensor, "w b c"]]:
        """The state of the LSTM and the read vectors after each word of each story.

        Args:
            inputs: what each word gives to the gates.
            lengths: the words of each story, the longest first; what is behind them means nothing.
        """
        weights = (
            self.read_weight,
            self.hidden_weight,
            self.interface_weight,
            self.interface_bias,
        )
        if native.usable(inputs):
            return native.read(inputs, lengths, *weights, self.native_memory())
        stories, hidden = inputs.shape[1], self.config.hidden_size
        h = c = inputs.new_zeros(stories, hidden)
        r = inputs.new_zeros(stories, self.config.read_heads * self.config.location_size)
        state = self.empty_memory(inputs)
        states, found = [], []
        for x in inputs:
            gates = x + linear(r, self.read_weight) + linear(h, self.hidden_weight)
            i, f, o = gates[:, : 3 * hidden].sigmoid().chunk(3, dim=1)
            c = f * c + i * gates[:, 3 * hidden :].tanh()
            h = o * c.tanh()
            read, state = self.step(linear(h, self.interface_weight, self.interface_bias), state)
            r = read.flatten(1)
            states.append(h)
            found.append(r)
        return torch.stack(states), torch.stack(found)

    @abstractmethod
    def empty_memory(self, inputs: Float[Tensor, "w b g"]) -> Any:
        """The memory before the first word."""

    @abstractmethod
    def step(
        self, interface: Float[Tensor, "b z"], state: Any
    ) -> tuple[Float[Tensor, "b i d"], Any]:
        """Do what the interface vector says: what is read, and the memory afterwards."""

    @abstractmethod
    def native_memory(self) -> native.Memory:
        """The memory as the C++ kernel knows it."""
