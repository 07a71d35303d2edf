"""Batches of questions about stories: seeded, with each different sentence once."""

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from tpr_rnn.data.encoding import Encoded


class StoryGroup(NamedTuple):
    """Stories of similar length, padded to the longest of them."""

    story: Int[Tensor, "b t"]
    """Rows of the batch's table of sentences."""
    lengths: Int[Tensor, " b"]
    question: Int[Tensor, " b"]
    """Rows of the batch's table of questions."""


class Batch(NamedTuple):
    """A batch, its stories in groups by length; `answer` and `task` run through the groups."""

    sentences: Int[Tensor, "u w"]
    questions: Int[Tensor, "a w"]
    groups: tuple[StoryGroup, ...]
    answer: Int[Tensor, " n"]
    task: Int[Tensor, " n"]

    def to(self, device: torch.device) -> "Batch":
        """The same batch on another device."""
        groups = tuple(StoryGroup(*(part.to(device) for part in group)) for group in self.groups)
        return Batch(
            self.sentences.to(device),
            self.questions.to(device),
            groups,
            self.answer.to(device),
            self.task.to(device),
        )


def make_batch(data: Encoded, chosen: Int[np.ndarray, " n"], groups: int = 1) -> Batch:
    """The chosen questions as a batch; in `groups` > 1 groups they are sorted by length."""
    if groups > 1:
        chosen = chosen[np.argsort(data.length[chosen], kind="stable")]
    padded = [_pad_stories(data, part) for part in np.array_split(chosen, min(groups, len(chosen)))]
    told = np.concatenate([story.ravel() for story in padded])
    sentence_rows, sentence_at = _each_once(told, len(data.sentences))
    question_rows, question_at = _each_once(data.question[chosen], len(data.questions))

    parts = []
    cell = row = 0
    for story in padded:
        rows = slice(row, row + len(story))
        parts.append(
            StoryGroup(
                torch.from_numpy(sentence_at[cell : cell + story.size].reshape(story.shape)),
                torch.from_numpy(data.length[chosen[rows]]),
                torch.from_numpy(question_at[rows]),
            )
        )
        cell, row = cell + story.size, rows.stop
    return Batch(
        torch.from_numpy(data.sentences[sentence_rows]),
        torch.from_numpy(data.questions[question_rows]),
        tuple(parts),
        torch.from_numpy(data.answer[chosen]),
        torch.from_numpy(data.task[chosen]),
    )


def epoch_order(
    data: Encoded, seed: int, epoch: int, shares: Mapping[int, float] | None = None
) -> Int[np.ndarray, " n"]:
    """The questions of an epoch, in their order: all that is random depends on seed and epoch.

    With `shares` each task gets its share of the epoch: of a task with more than it has questions
    for, questions come again; of one with less, some are left out. Without, each comes once.
    """
    random = np.random.default_rng((seed, epoch))
    if shares is None:
        return random.permutation(len(data))
    ends = np.rint(np.cumsum(list(shares.values())) * len(data)).astype(int)
    counts = np.diff(ends, prepend=0)
    chosen = [
        _repeated(np.flatnonzero(data.task == task), count, random)
        for task, count in zip(shares, counts.tolist(), strict=True)
    ]
    return random.permutation(np.concatenate(chosen))


def task_shares(
    data: Encoded, errors: Mapping[int, float], error_weighted_share: float
) -> dict[int, float]:
    """How much of an epoch each task gets: a share goes by errors, the rest by questions.

    Args:
        data: the training questions.
        errors: how much of each task is not learned yet; a task that is not there is learned.
        error_weighted_share: what goes by errors, from 0 (each question counts alike) to 1.
    """
    tasks, questions = np.unique(data.task, return_counts=True)
    wrong = np.array([errors.get(task, 0.0) for task in tasks.tolist()])
    even = questions / questions.sum()
    by_error = wrong / wrong.sum() if wrong.any() else even
    shares = (1 - error_weighted_share) * even + error_weighted_share * by_error
    return dict(zip(tasks.tolist(), shares.tolist(), strict=True))


def evaluation_batches(data: Encoded, size: int = 512) -> Iterator[Batch]:
    """All questions, stories of similar length together."""
    by_length = np.argsort(data.length, kind="stable")
    for begin in range(0, len(by_length), size):
        yield make_batch(data, by_length[begin : begin + size])


def _repeated(
    numbers: Int[np.ndarray, " n"], count: int, random: np.random.Generator
) -> Int[np.ndarray, " c"]:
    """So many of the numbers: each as often as any other, give or take one."""
    rounds = math.ceil(count / len(numbers))
    return random.permuted(np.tile(numbers, (rounds, 1)), axis=1).ravel()[:count]


def _each_once(
    numbers: Int[np.ndarray, " n"], limit: int
) -> tuple[Int[np.ndarray, " u"], Int[np.ndarray, " n"]]:
    """The different numbers, all under the limit, in order, and where among them each one is.

    `np.unique` does the same by sorting, which takes some twentieth of a training step.
    """
    there = np.zeros(limit, dtype=bool)
    there[numbers] = True
    return np.flatnonzero(there), (there.cumsum() - 1)[numbers]


def _pad_stories(data: Encoded, chosen: Int[np.ndarray, " n"]) -> Int[np.ndarray, "b t"]:
    length = data.length[chosen]
    time = np.arange(length.max(initial=0))
    told = time < length[:, None]
    position = np.where(told, data.start[chosen][:, None] + time, 0)
    if not len(data.told):
        return np.zeros_like(position)
    return np.where(told, data.told[position], 0)
