"""How many questions a model answers wrongly."""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from tpr_rnn.data.batches import evaluation_batches
from tpr_rnn.data.encoding import UNKNOWN_ANSWER, Encoded


@dataclass(frozen=True)
class Scores:
    """Loss and errors over a set of questions."""

    loss: float
    """Mean cross-entropy of the questions."""
    errors: dict[int, float]
    """Wrong answers in percent, by task."""
    asked: dict[int, int]
    """Questions, by task."""

    @property
    def error(self) -> float:
        """The mean over tasks, in percent."""
        return sum(self.errors.values()) / len(self.errors)

    @property
    def worst(self) -> float:
        """The error of the worst task, in percent."""
        return max(self.errors.values())

    @property
    def pooled_error(self) -> float:
        """Wrong answers in percent of all questions, whatever their task."""
        wrong = sum(error * self.asked[task] for task, error in self.errors.items())
        return wrong / sum(self.asked.values())


@torch.no_grad()
def score(model: nn.Module, data: Encoded, device: torch.device | None = None) -> Scores:
    """Score a model on all questions of a data set."""
    training = model.training
    model.eval()
    loss = 0.0
    asked: dict[int, int] = {}
    wrong: dict[int, int] = {}
    for batch in evaluation_batches(data):
        batch = batch.to(device or torch.device("cpu"))
        logits = model(batch)
        loss += float(
            cross_entropy(logits, batch.answer, reduction="sum", ignore_index=UNKNOWN_ANSWER)
        )
        missed = logits.argmax(dim=1) != batch.answer
        for task, one_missed in zip(batch.task.tolist(), missed.tolist(), strict=True):
            asked[task] = asked.get(task, 0) + 1
            wrong[task] = wrong.get(task, 0) + one_missed
    model.train(training)
    errors = {task: 100 * wrong[task] / asked[task] for task in sorted(asked)}
    return Scores(loss / len(data), errors, asked)
