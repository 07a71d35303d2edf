"""EntNet: Tracking the World State with Recurrent Entity Networks (Henaff et al. 2017).

The memory is a set of slots, each with a learned key. Every sentence goes to all slots; a gate
decides by the content of a slot and by its key how much the sentence changes it. Equation numbers
are the paper's.

The slots do not depend on the question: a story is read once, and each question looks at the slots
as they were where it was asked.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import embedding, pad

from tpr_rnn.data.batches import Batch
from tpr_rnn.models.model import Model, ModelConfig
from tpr_rnn.models.slots import Slots, phi, states_at_questions


@dataclass(frozen=True, kw_only=True)
class EntNetConfig(ModelConfig):
    """Sizes and settings of an EntNet; the defaults are the paper's."""

    embedding_size: int = 100
    """Dimension of the embeddings and of a slot (d)."""
    slots: int = 20
    """Slots of the memory, each with its key (m)."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        self.check_sizes("vocabulary_size", "max_words", "embedding_size", "slots")

    def summary(self) -> str:
        """The sizes, for a person to read."""
        return f"{self.slots} slots of size {self.embedding_size}"


class EntNet(Model):
    """Slots with keys, updated in parallel."""

    config: EntNetConfig

    def __init__(self, config: EntNetConfig, *, generator: torch.Generator | None = None) -> None:
        """Make a model with fresh parameters: from N(0, 0.1), but for the masks and slopes."""
        super().__init__(config, generator=generator)
        size = config.embedding_size

        def normal(*shape: int) -> nn.Parameter:
            return nn.Parameter(0.1 * torch.randn(shape, generator=generator))

        self.words = normal(config.vocabulary_size - 1, size)  # the null word, number 0, is zero
        self.sentence_mask = normal(config.max_words, size)  # f_i
        self.question_mask = nn.Parameter(torch.ones(config.max_words, size))
        self.keys = normal(config.slots, size)  # w_j
        self.gate_bias = normal(config.slots)
        self.u, self.v, self.w = (normal(size, size) for _ in range(3))
        self.candidate_bias = normal(size)
        self.slope = nn.Parameter(torch.ones(size))  # of phi, a PReLU
        self.h = normal(size, size)
        self.r = normal(config.vocabulary_size, size)

    def forward(self, batch: Batch) -> Float[Tensor, "n v"]:
        """The scores (logits) of every word as the answer to every question of the batch."""
        words = pad(self.words, (0, 0, 1, 0))
        sentences = (embedding(batch.sentences, words) * self.sentence_mask).sum(dim=1)  # eq. 1
        questions = (embedding(batch.questions, words) * self.question_mask).sum(dim=1)
        slots = self._slots(sentences)
        h = torch.cat([states_at_questions(slots, group) for group in batch.groups])
        q = torch.cat([embedding(group.question, questions) for group in batch.groups])
        return self._answer(q, h)

    def _slots(self, sentences: Float[Tensor, "u d"]) -> Slots:
        """What all stories have in common; what is said, once for each different sentence."""
        return Slots(
            sentences=sentences,
            from_sentence=sentences @ self.w.T,
            match=sentences @ self.keys.T + self.gate_bias,
            keys=self.keys,
            from_key=self.keys @ self.v.T + self.candidate_bias,
            u=self.u,
            slope=self.slope,
        )

    def _answer(self, q: Float[Tensor, "q d"], h: Float[Tensor, "q m d"]) -> Float[Tensor, "q v"]:
        """The output module (eq. 6)."""
        p = (h @ q.unsqueeze(2)).softmax(dim=1)
        u = (p * h).sum(dim=1)
        return phi(q + u @ self.h.T, self.slope) @ self.r.T
