"""MemN2N: End-To-End Memory Networks (Sukhbaatar, Szlam, Weston & Fergus 2015).

The memory holds one vector a sentence. A question reads it in several hops: each is a softmax over
the sentences, and what it finds is added to what the next hop looks for. Equation and section
numbers are the paper's. The null word and empty places of the memory are zero and take no part.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import embedding, pad

from tpr_rnn.data.batches import Batch, StoryGroup
from tpr_rnn.errors import UserError, quoted
from tpr_rnn.models.encoder import position_encoding
from tpr_rnn.models.model import Model, ModelConfig


class Tying(NamedTuple):
    """Which embedding matrix is used where (section 2.2)."""

    hops: tuple[tuple[int, int], ...]
    """A and C of each hop."""
    question: int
    """B."""
    answer: int
    """W, transposed."""

    @property
    def in_memory(self) -> int:
        """How many matrices embed sentences: the first ones."""
        return self.hops[-1][1] + 1

    @property
    def matrices(self) -> int:
        """How many there are in all."""
        return max(self.in_memory, self.question + 1, self.answer + 1)

    @staticmethod
    def of(name: str, hops: int) -> "Tying":
        """The tying of that name."""
        if name == "adjacent":  # A of a hop is C of the one before, B is A^1 and W is C^K
            return Tying(tuple((k, k + 1) for k in range(hops)), question=0, answer=hops)
        if name == "layer-wise":  # A and C are those of all hops
            return Tying(((0, 1),) * hops, question=2, answer=3)
        raise UserError(f"tying is adjacent or layer-wise, not {quoted(name)}")


@dataclass(frozen=True, kw_only=True)
class MemN2NConfig(ModelConfig):
    """Sizes and settings of a MemN2N; the defaults are those of its released program."""

    embedding_size: int = 20
    """Dimension of the embeddings (d)."""
    hops: int = 3
    """Reads of the memory (K)."""
    tying: str = "adjacent"
    """Which matrices are one: adjacent (A of a hop is C of the one before), or layer-wise (all hops
    have the same, and u goes through a matrix H between them)."""
    relu: bool = False
    """A ReLU on u after each hop."""
    memory_size: int = 50
    """The last so many sentences are kept."""
    time_noise: float = 0.1
    """Up to this share of empty places is put between the sentences of a training story, so that
    their times are not learned by heart."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        self.check_sizes("vocabulary_size", "max_words", "embedding_size", "hops", "memory_size")
        self.check_shares("time_noise")
        Tying.of(self.tying, self.hops)

    def summary(self) -> str:
        """The sizes, for a person to read."""
        return f"embedding {self.embedding_size}, {self.hops} hops, {self.tying} tying"


class MemN2N(Model):
    """A memory of sentences, read in hops."""

    config: MemN2NConfig
    positions: Tensor
    linear: Tensor
    """Whether the softmax in the memory is left out (linear start, section 4.2)."""

    def __init__(self, config: MemN2NConfig, *, generator: torch.Generator | None = None) -> None:
        """Make a model with fresh parameters from N(0, 0.1)."""
        super().__init__(config, generator=generator)
        words, size = config.vocabulary_size - 1, config.embedding_size
        self.tying = Tying.of(config.tying, config.hops)

        def normal(*shape: int) -> nn.Parameter:
            return nn.Parameter(0.1 * torch.randn(shape, generator=generator))

        # The null word, number 0, has no row. The times T_A and T_C are further rows of A and C,
        # as in the released program, which clips the gradient of both together.
        self.matrices = nn.ParameterList(
            normal(words + config.memory_size if number < self.tying.in_memory else words, size)
            for number in range(self.tying.matrices)
        )
        self.h = normal(size, size) if config.tying == "layer-wise" else None
        self.register_buffer("linear", torch.tensor(False))
        self.register_buffer(
            "positions", position_encoding(config.max_words, size), persistent=False
        )

    def set_linear(self, linear: bool) -> None:
        """Leave the softmax in the memory out, or take it in again."""
        self.linear.fill_(linear)

    def forward(self, batch: Batch) -> Float[Tensor, "n v"]:
        """The scores (logits) of every word as the answer to every question of the batch."""
        count = self.config.vocabulary_size - 1
        null = (0, 0, 1, 0)  # a row of zeros above the others
        words = [pad(matrix[:count], null) for matrix in self.matrices]
        question = self._encode(batch.questions, words[self.tying.question])
        memory = range(self.tying.in_memory)
        sentences = torch.cat([self._encode(batch.sentences, words[i]) for i in memory], dim=1)
        times = torch.cat([self.matrices[i][count:] for i in memory], dim=1)
        found = [
            self._hops(embedding(group.question, question), sentences, times, group)
            for group in (group.for_each_question() for group in batch.groups)
        ]
        return torch.cat(found) @ words[self.tying.answer].T  # eq. 3

    def _encode(
        self, texts: Int[Tensor, "u w"], words: Float[Tensor, "v d"]
    ) -> Float[Tensor, "u d"]:
        """sum over j of l_j * A x_j: the position encoding (section 4.1)."""
        return (embedding(texts, words) * self.positions).sum(dim=1)

    def _hops(
        self,
        u: Float[Tensor, "q d"],
        sentences: Float[Tensor, "u c"],
        times: Float[Tensor, "s c"],
        group: StoryGroup,
    ) -> Float[Tensor, "q d"]:
        """The last o + u of each question, which has a story of its own."""
        place = torch.arange(group.story.shape[1], device=u.device)
        age = group.lengths.unsqueeze(1) - 1 - place
        kept = (age >= 0) & (age < self.config.memory_size)
        time = self._with_noise(age, kept) if self.training else age
        time = time.clamp(0, self.config.memory_size - 1)
        # m_i and c_i of all hops, side by side (section 4.1, "temporal encoding").
        memory = embedding(group.story, sentences) + embedding(time, times)
        parts = memory.split(u.shape[1], dim=2)
        for a, c in self.tying.hops:
            p = self._weights((parts[a] @ u.unsqueeze(2)).squeeze(2), kept)
            o = (p.unsqueeze(1) @ parts[c]).squeeze(1)  # eq. 2
            u = (u if self.h is None else u @ self.h.T) + o  # eq. 4
            if self.config.relu:
                u = u.relu()
        return u

    def _weights(
        self, scores: Float[Tensor, "q t"], kept: Bool[Tensor, "q t"]
    ) -> Float[Tensor, "q t"]:
        """p_i (eq. 1)."""
        if not self.linear:
            lowest = torch.finfo(scores.dtype).min  # not -inf: a story may be empty
            scores = scores.masked_fill(~kept, lowest).softmax(dim=1)
        return scores * kept

    def _with_noise(self, age: Int[Tensor, "q t"], kept: Bool[Tensor, "q t"]) -> Int[Tensor, "q t"]:
        """Ages with empty places between the sentences ("random noise", section 4.1)."""
        sentences = kept.sum(dim=1)
        most = (self.config.time_noise * sentences).ceil()
        empty = (torch.rand_like(most) * (most + 1)).long()
        places = (sentences + empty).unsqueeze(1)
        # As many of the places as there are sentences, at random.
        order = torch.rand(len(age), int(places.max()), device=age.device)
        place = torch.arange(order.shape[1], device=age.device)
        order = order.masked_fill(place >= places, 1.0)
        taken = order.argsort(dim=1).argsort(dim=1) < sentences.unsqueeze(1)
        # The oldest sentence, which comes first in its row, has the last of them.
        noisy = age.clone()
        noisy[kept] = order.shape[1] - 1 - taken.flip(1).nonzero()[:, 1]
        return noisy
