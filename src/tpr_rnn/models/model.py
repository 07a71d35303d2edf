"""What all models have in common, so that training, scoring and files need not tell them apart."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from tpr_rnn.data.batches import Batch
from tpr_rnn.errors import UserError
from tpr_rnn.settings import check_settings

Config = TypeVar("Config", bound="ModelConfig")


@dataclass(frozen=True, kw_only=True)
class ModelConfig(ABC):
    """Sizes and settings of a model; each kind adds its own."""

    vocabulary_size: int
    """Words, the padding included."""
    max_words: int
    """Words in the longest sentence or question (k in eq. 5)."""

    @abstractmethod
    def summary(self) -> str:
        """The sizes, for a person to read."""

    @classmethod
    def from_json(cls: type[Config], settings: Mapping[str, Any]) -> Config:
        """Read settings that were kept as JSON, where tuples are lists; unknown ones are errors."""
        check_settings(cls, settings, "a model")
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in settings.items()
        }
        return cls(**values)

    def check_sizes(self, *names: str) -> None:
        """Refuse sizes that make no sense."""
        for name in names:
            size = getattr(self, name)
            # The bound only keeps a slip of the finger from filling the machine's memory.
            if not (isinstance(size, int) and 1 <= size <= 100_000):
                raise UserError(f"{name} must be from 1 to 100,000, not {size}")

    def check_shares(self, *names: str) -> None:
        """Refuse shares that make no sense."""
        for name in names:
            if not 0 <= getattr(self, name) < 1:
                raise UserError(f"{name} must be at least 0 and under 1, not {getattr(self, name)}")


class Model(nn.Module, ABC):
    """Reads the stories of a batch and scores every word as the answer to each question."""

    config: ModelConfig

    def __init__(self, config: ModelConfig, *, generator: torch.Generator | None = None) -> None:
        """Make a model with fresh parameters; `generator` is where their randomness comes from."""
        super().__init__()
        self.config = config

    @abstractmethod
    def forward(self, batch: Batch) -> Float[Tensor, "n v"]:
        """The scores (logits) of every word as the answer to every question of the batch."""

    def loss(self, batch: Batch) -> tuple[Float[Tensor, ""], Float[Tensor, "n v"]]:
        """What training makes small, and the logits that it was made from.

        The cross-entropy of the answers, unless a model has its own, such as one with a further
        term. A question whose answer is `NO_ANSWER` does not count: `cross_entropy` leaves it out.
        """
        logits = self(batch)
        return cross_entropy(logits, batch.answer), logits

    @property
    def word_vectors(self) -> Tensor | None:
        """A vector for each word of the vocabulary, if the model has such; random names draw
        those of names anew.
        """
        return None

    def set_linear(self, linear: bool) -> None:
        """Leave the softmax in the memory out, or take it in again (`linear_start_epochs`)."""
        raise UserError(
            "a linear start needs a model that can leave the softmax in its memory out, which "
            f"{type(self).__name__} cannot; leave linear_start_epochs out"
        )

    def story_groups(self) -> int:
        """Into how many groups by length a training batch is best split."""
        return 1
