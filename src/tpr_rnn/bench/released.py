"""The baseline: training steps of the step-by-step algorithm, as in the paper's released code.

One einsum after the other on a dense E x R x E memory, sentence by sentence; every sentence of
every story encoded by itself; the batch padded to its longest story; standard clipping and
optimizer.
"""

from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from tpr_rnn.data.batches import Batch
from tpr_rnn.memory import OPERATIONS, Associations, DenseMemory, Memory, Operation, Queries
from tpr_rnn.memory.queries import walk
from tpr_rnn.models import TPRRNN, TPRRNNConfig


def released_memory(
    associations: Associations,
    *,
    operations: tuple[Operation, ...] = OPERATIONS,
    lengths: Int[Tensor, " b"] | None = None,
    queries: Queries | None = None,
) -> tuple[Float[Tensor, "b t o f"], Memory, Float[Tensor, "b s f"] | None]:
    """The memory as the released code has it: all three operations, from an empty memory.

    It knows one query a story, at its end.

    Tensors of order 2 are added up before they become one of order 3, which is what that code does
    to save multiplications.
    """
    if operations != OPERATIONS:
        raise ValueError("the released code has all three operations")
    associations = associations.until(lengths)
    parts = associations.parts()
    memory = DenseMemory.zero(associations).tensor
    changes = []
    for e1, e2, r1, r2, r3 in zip(*(vectors.unbind(dim=1) for vectors in parts), strict=True):
        w_hat = torch.einsum("be,br,berf->bf", e1, r1, memory)  # eq. 9
        m_hat = torch.einsum("be,br,berf->bf", e1, r2, memory)  # eq. 11
        b_hat = torch.einsum("be,br,berf->bf", e2, r3, memory)  # eq. 13
        write = torch.einsum("br,bf->brf", r1, e2 - w_hat)  # part of eq. 10
        move = torch.einsum("br,bf->brf", r2, w_hat - m_hat)  # part of eq. 12
        backlink = torch.einsum("br,bf->brf", r3, e1 - b_hat)  # part of eq. 14
        memory = memory + torch.einsum("be,brf->berf", e1, write + move)
        memory = memory + torch.einsum("be,brf->berf", e2, backlink)
        changes.append(torch.stack((e2 - w_hat, w_hat - m_hat, e1 - b_hat), dim=1))
    found = None if queries is None else walk(queries, associations, partial(_retrieve, memory))
    return torch.stack(changes, dim=1), DenseMemory(memory), found


def _retrieve(memory: Tensor, entity: Tensor, relation: Tensor) -> Tensor:
    return torch.einsum("be,br,berf->bf", entity, relation, memory)  # eq. 17-19


class ReleasedStep:
    """A model, an optimizer, and full training steps with them."""

    def __init__(self, config: TPRRNNConfig, seed: int = 0) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.model = TPRRNN(config, generator=generator, memory_form=released_memory)
        self.optimizer = torch.optim.NAdam(self.model.parameters(), lr=1e-3, foreach=True)

    def __call__(self, batch: Batch) -> float:
        """Forward, backward, clip, optimizer."""
        self.optimizer.zero_grad()
        loss = cross_entropy(self.model(batch), batch.answer)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self.optimizer.step()
        return float(loss.detach())


def without_sharing(batch: Batch) -> Batch:
    """A batch of one story a question, with every text in a row of its own."""
    (group,) = batch.groups
    own = group._replace(
        story=torch.arange(group.story.numel()).view_as(group.story),
        question=torch.arange(len(group.question)),
    )
    return batch._replace(
        sentences=batch.sentences[group.story.flatten()],
        questions=batch.questions[group.question],
        groups=(own,),
    )
