"""How many questions a model answers wrongly."""

from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from tpr_rnn.data.batches import evaluation_batches
from tpr_rnn.data.encoding import UNKNOWN_ANSWER, Encoded
from tpr_rnn.evaluation.record import TaskError
from tpr_rnn.team import Team


@dataclass(frozen=True)
class Scores:
    """Loss and errors over a set of questions."""

    loss: float
    """Mean cross-entropy of the questions."""
    errors: dict[str, float]
    """Wrong answers in percent, by task."""
    asked: dict[str, int]
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


def percent(number: float) -> float:
    """As a record has it."""
    return round(number, 4)


def task_errors(scores: Scores) -> dict[str, TaskError]:
    """The errors by task, as a record has them."""
    return {task: TaskError(error=percent(error)) for task, error in scores.errors.items()}


class Answered(NamedTuple):
    """What a model says to all questions of a data set."""

    logits: Float[Tensor, "n v"]
    answer: Int[Tensor, " n"]
    task: Int[Tensor, " n"]


@torch.no_grad()
def answered(model: nn.Module, data: Encoded, device: torch.device | None = None) -> Answered:
    """Ask a model all questions of a data set."""
    training = model.training
    model.eval()
    found = [
        (model(batch.to(device or torch.device("cpu"))).cpu(), batch.answer, batch.task)
        for batch in evaluation_batches(data)
    ]
    model.train(training)
    return Answered(*(torch.cat(part) for part in zip(*found, strict=True)))


@torch.no_grad()
def score(
    model: nn.Module,
    data: Encoded,
    device: torch.device | None = None,
    team: Team | None = None,
) -> Scores:
    """Score a model on all questions of a data set; a team shares its batches."""
    training = model.training
    model.eval()
    loss = 0.0
    asked = np.zeros(len(data.task_names), dtype=int)
    wrong = np.zeros_like(asked)
    batches = evaluation_batches(data)
    for batch in batches if team is None else islice(batches, team.rank, None, team.size):
        batch = batch.to(device or torch.device("cpu"))
        logits = model(batch)
        loss += float(
            cross_entropy(logits, batch.answer, reduction="sum", ignore_index=UNKNOWN_ANSWER)
        )
        missed = logits.argmax(dim=1) != batch.answer
        for count, tasks in ((asked, batch.task), (wrong, batch.task[missed])):
            count += np.bincount(tasks.cpu().numpy(), minlength=len(count))
    model.train(training)
    if team is not None:
        sums = torch.tensor([loss, *asked, *wrong], dtype=torch.float64)
        team.add_up(sums)
        loss, counts = float(sums[0]), sums[1:].numpy().astype(int)
        asked, wrong = np.split(counts, 2)
    questions = {
        task: count for task, count in zip(data.task_names, asked.tolist(), strict=True) if count
    }
    misses = dict(zip(data.task_names, wrong.tolist(), strict=True))
    errors = {task: 100 * misses[task] / count for task, count in questions.items()}
    return Scores(loss / len(data), errors, questions)
