"""Random names: batches in which every name is one that the model has never heard.

A name means nothing but who bears it. A model that may train the vectors of names writes into
them what their bearers do in its tasks, and fails when they turn up in others. So with random names
the vectors of names are drawn once and stay; and in a share of the batches they are drawn anew, for
that batch alone, so that what a task asks for has to be learned for anybody.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Float, Int
from torch import Tensor

from tpr_rnn.data.batches import Batch
from tpr_rnn.data.encoding import Encoded
from tpr_rnn.errors import UserError
from tpr_rnn.models.model import Model

SCALE = 0.3
"""Names are drawn from +-SCALE: trained, the vectors of other words become about so long."""

NO_ANSWER = -100
"""The answer to a question that does not count; `cross_entropy` leaves it out."""


class RandomNames:
    """The names among the words of a model that is being trained."""

    def __init__(self, vectors: Tensor, names: Int[Tensor, " k"]) -> None:
        """Say which rows of the word vectors are names."""
        self._vectors, self._names = vectors, names

    @staticmethod
    def of(model: Model, data: Encoded) -> "RandomNames":
        """The names of the training questions among the words of a model."""
        vectors = model.word_vectors
        if vectors is None:
            raise UserError(
                "random names need a model that has a vector for each word (`Model.word_vectors`), "
                f"which {type(model).__name__} has not; leave random_name_share out"
            )
        if not len(data.names):
            raise UserError(
                "random names need names, and no training question has any (a word with a "
                "capital that is not its first); leave random_name_share out"
            )
        return RandomNames(vectors, torch.from_numpy(data.names).to(vectors.device))

    def settle(self, generator: torch.Generator | None = None) -> None:
        """Draw the vectors that the names keep."""
        self._vectors.data[self._names] = self._draw(generator)

    def keep(self) -> None:
        """Take the names out of the gradient, so that their vectors stay."""
        if self._vectors.grad is not None:
            self._vectors.grad[self._names] = 0.0

    @contextmanager
    def met(self, batch: Batch, answers: Int[Tensor, " n"] | None = None) -> Iterator[Batch]:
        """Within it every name has a vector drawn anew; after it, its own again.

        Nobody can tell a stranger's name, so the batch comes without answers that are names; one
        that asks for nothing else has no strangers. `answers` are those of the whole batch, where
        this is a part of one.
        """
        named = torch.isin(batch.answer, self._names)
        if (named if answers is None else torch.isin(answers, self._names.cpu())).all():
            yield batch
            return
        own = self._vectors.detach()[self._names]  # a copy, for indices are many
        try:
            self._vectors.data[self._names] = self._draw()
            yield batch._replace(answer=batch.answer.masked_fill(named, NO_ANSWER))
        finally:
            self._vectors.data[self._names] = own

    def _draw(self, generator: torch.Generator | None = None) -> Float[Tensor, "k v"]:
        drawn = torch.empty(len(self._names), self._vectors.shape[1])
        return drawn.uniform_(-SCALE, SCALE, generator=generator).to(self._vectors.device)
