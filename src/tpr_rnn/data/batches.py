"""Batches of stories with questions about them: seeded, with each different sentence once.

Questions that were asked at several places of one story share a row: the story is read once, and
each question looks at what was read before it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from tpr_rnn.data.encoding import Encoded
from tpr_rnn.errors import UserError


class StoryGroup(NamedTuple):
    """Stories of similar length, padded to the longest of them, and the questions about them."""

    story: Int[Tensor, "b t"]
    """Rows of the batch's table of sentences."""
    lengths: Int[Tensor, " b"]
    about: Int[Tensor, " q"]
    """The story of each question: a row of `story`."""
    position: Int[Tensor, " q"]
    """How many sentences of it come before the question."""
    question: Int[Tensor, " q"]
    """Rows of the batch's table of questions."""

    @staticmethod
    def of_one(sentences: int, questions: int) -> "StoryGroup":
        """A story of so many sentences, all of a batch's, with all its questions at its end."""
        about = torch.zeros(questions, dtype=torch.int64)
        return StoryGroup(
            story=torch.arange(sentences).unsqueeze(0),
            lengths=torch.tensor([sentences]),
            about=about,
            position=torch.full_like(about, sentences),
            question=torch.arange(questions),
        )

    def for_each_question(self) -> "StoryGroup":
        """The same with a copy of its story for each question, as far as it goes before it."""
        own = torch.arange(len(self.about), device=self.about.device)
        return self._replace(story=self.story[self.about], lengths=self.position, about=own)


class Rows(NamedTuple):
    """Which rows of the table of a whole batch a part of that batch has."""

    mine: Int[Tensor, " r"]
    of: int
    """Rows of the whole."""


class Batch(NamedTuple):
    """A batch, its stories in groups by length; `answer` and `task` run through the groups."""

    sentences: Int[Tensor, "u w"]
    questions: Int[Tensor, "a w"]
    groups: tuple[StoryGroup, ...]
    answer: Int[Tensor, " n"]
    task: Int[Tensor, " n"]
    sentence_rows: Rows | None = None
    """Those of the whole batch that these sentences are, where this is a part of one."""
    question_rows: Rows | None = None

    def to(self, device: torch.device) -> "Batch":
        """The same batch on another device."""
        groups = tuple(StoryGroup(*(part.to(device) for part in group)) for group in self.groups)
        return Batch(
            self.sentences.to(device),
            self.questions.to(device),
            groups,
            self.answer.to(device),
            self.task.to(device),
            *(
                rows and Rows(rows.mine.to(device), rows.of)
                for rows in (self.sentence_rows, self.question_rows)
            ),
        )


Words = Int[np.ndarray, "c v"]
"""For each row of `Encoded.kept`, the word that stands for each word of the vocabulary."""


def make_batch(
    data: Encoded, chosen: Int[np.ndarray, " n"], groups: int = 1, words: Words | None = None
) -> Batch:
    """The chosen questions as a batch, their stories in so many groups of similar length.

    Questions that begin to read at the same sentence share their story. Where a cap on the
    sentences cuts, questions of one story begin at different ones, and each has a row of its own.
    With `words` all is told in other words.
    """
    return _make_batch(data, chosen, groups, words)[0]


def make_part(
    data: Encoded,
    chosen: Int[np.ndarray, " n"],
    groups: int,
    words: Words | None,
    number: int,
    parts: int,
) -> Batch:
    """Part `number` of `parts` of a batch of the chosen questions: some of its stories, whole.

    Stories are dealt out by their length, so that all parts take about as long.
    """
    _, about, lengths = _stories_of(data, chosen)
    mine = np.argsort(-lengths, kind="stable")[number::parts]
    part, *tables = _make_batch(data, chosen[np.isin(about, mine)], groups, words)
    _, *whole = _make_batch(data, chosen, groups, words)
    sentence_rows, question_rows = (
        Rows(torch.from_numpy(np.searchsorted(all_of_them, few)), len(all_of_them))
        for few, all_of_them in zip(tables, whole, strict=True)
    )
    return part._replace(sentence_rows=sentence_rows, question_rows=question_rows)


def _stories_of(data: Encoded, chosen: Int[np.ndarray, " n"]) -> tuple[np.ndarray, ...]:
    """The first sentences of the stories of some questions, whose story is which, and lengths."""
    begin, about = np.unique(data.start[chosen], return_inverse=True)
    lengths = np.zeros(len(begin), dtype=np.int64)
    np.maximum.at(lengths, about, data.length[chosen])
    return begin, about, lengths


def _make_batch(
    data: Encoded, chosen: Int[np.ndarray, " n"], groups: int, words: Words | None
) -> tuple[Batch, Int[np.ndarray, " u"], Int[np.ndarray, " a"]]:
    """A batch, and the numbers of its sentences and of its questions."""
    begin, about, lengths = _stories_of(data, chosen)
    by_length = np.argsort(lengths, kind="stable") if groups > 1 else np.arange(len(begin))
    rows = np.array_split(by_length, max(1, min(groups, len(begin))))
    padded = [_pad_stories(data, begin[part], lengths[part]) for part in rows]
    members, place = _members(rows, about)
    asked = np.concatenate(members)
    question_rows, question_at = _each_once(data.question[chosen], len(data.questions))
    told = np.concatenate([story.ravel() for story in padded])
    sentence_rows, sentence_at = _each_once(told, len(data.sentences))

    parts = []
    cell = 0
    for story, part, which in zip(padded, rows, members, strict=True):
        parts.append(
            StoryGroup(
                torch.from_numpy(sentence_at[cell : cell + story.size].reshape(story.shape)),
                torch.from_numpy(lengths[part]),
                torch.from_numpy(place[about[which]]),
                torch.from_numpy(data.length[chosen[which]]),
                torch.from_numpy(question_at[which]),
            )
        )
        cell += story.size
    sentences, questions = data.sentences[sentence_rows], data.questions[question_rows]
    answer, task = data.answer[chosen[asked]], data.task[chosen[asked]]
    if words is not None:
        sentences = words[data.sentence_kept[sentence_rows][:, None], sentences]
        questions = words[data.question_kept[question_rows][:, None], questions]
        answer = words[data.task_kept[task], answer]
    batch = Batch(
        torch.from_numpy(sentences),
        torch.from_numpy(questions),
        tuple(parts),
        torch.from_numpy(answer),
        torch.from_numpy(task),
    )
    return batch, sentence_rows, question_rows


def epoch_order(
    data: Encoded, seed: int, epoch: int, shares: Mapping[str, float] | None = None
) -> Int[np.ndarray, " n"]:
    """The questions of an epoch, in their order: all that is random depends on seed and epoch.

    What is shuffled is stories: the questions of a story come one after the other, so that most
    batches read a story once for all of them. With `shares` each task gets its share of the epoch:
    of a task with more than it has questions for, stories come again; of one with less, some are
    left out. Without, each comes once.
    """
    return _questions(*_shuffled(data, np.random.default_rng((seed, epoch)), shares))


def bucketed_batches(
    data: Encoded,
    seed: int,
    epoch: int,
    *,
    batch_size: int,
    pool: int,
    shares: Mapping[str, float] | None = None,
) -> list[Int[np.ndarray, " _"]]:
    """The questions of each batch of an epoch: whole stories, similar in length, little padding.

    The stories of so many batches (`pool`) are sorted by length, and cut into batches of whole
    stories: as many batches as without sorting, of about `batch_size` questions each. They come in
    random order. Stories and their order are drawn as in `epoch_order`, from seed and epoch alone.
    A story that has been drawn twice into one batch is read once.
    """
    random = np.random.default_rng((seed, epoch))
    first, count = _shuffled(data, random, shares)
    batches, most = math.ceil(len(data) / batch_size), int(count.max())
    if batches > 1 and batch_size < 2 * most:
        raise UserError(
            f"a batch of whole stories (bucket_batches) of up to {most} questions needs a "
            f"batch_size of at least {2 * most}, not {batch_size}"
        )
    pool_of = (count.cumsum() - count) // (pool * batch_size)
    by_length = np.lexsort((_words(data, first, count), pool_of))
    first, count = first[by_length], count[by_length]
    batch_of = (count.cumsum() - count) * batches // count.sum()
    ends = np.searchsorted(batch_of, np.arange(1, batches))
    cut = []
    for members in np.split(np.arange(len(first)), ends):
        different = members[np.unique(first[members], return_index=True)[1]]
        cut.append(_questions(first[different], count[different]))
    return [cut[number] for number in random.permutation(batches)]


def story_batches(
    data: Encoded, seed: int, epoch: int, stories: int
) -> list[Int[np.ndarray, " _"]]:
    """The questions of each batch of an epoch: so many stories in each, with all their questions.

    Stories come in the order of `epoch_order`.
    """
    first, count = _shuffled(data, np.random.default_rng((seed, epoch)), None)
    return [
        _questions(first[begin : begin + stories], count[begin : begin + stories])
        for begin in range(0, len(first), stories)
    ]


def count_stories(data: Encoded) -> int:
    """How many stories there are, as they are read."""
    return len(_stories(data)[0])


def _shuffled(
    data: Encoded, random: np.random.Generator, shares: Mapping[str, float] | None
) -> Int[np.ndarray, "2 s"]:
    """The stories of an epoch in random order: of each the first question, and how many."""
    stories = _stories(data)
    if shares is None:
        return random.permutation(stories, axis=1)
    ends = np.rint(np.cumsum(list(shares.values())) * len(data)).astype(int)
    counts = np.diff(ends, prepend=0)
    task = data.task[stories[0]]
    chosen = [
        _repeated(stories[:, task == data.task_names.index(name)], count, random)
        for name, count in zip(shares, counts.tolist(), strict=True)
    ]
    return random.permutation(np.concatenate(chosen, axis=1), axis=1)


def task_shares(
    data: Encoded, errors: Mapping[str, float], error_weighted_share: float
) -> dict[str, float]:
    """How much of an epoch each task gets: a share goes by errors, the rest by questions.

    Args:
        data: the training questions.
        errors: how much of each task is not learned yet; a task that is not there is learned.
        error_weighted_share: what goes by errors, from 0 (each question counts alike) to 1.
    """
    numbers, questions = np.unique(data.task, return_counts=True)
    tasks = [data.task_names[number] for number in numbers.tolist()]
    wrong = np.array([errors.get(task, 0.0) for task in tasks])
    even = questions / questions.sum()
    by_error = wrong / wrong.sum() if wrong.any() else even
    shares = (1 - error_weighted_share) * even + error_weighted_share * by_error
    return dict(zip(tasks, shares.tolist(), strict=True))


def evaluation_batches(data: Encoded, size: int = 2048) -> Iterator[Batch]:
    """All questions, stories of similar length together, each story read once.

    A batch has about `size` questions: it ends with a story. Batches are larger than in training,
    for each encodes the sentences that it has: in four times as many questions stand twice as many.
    """
    first, count = _stories(data)
    by_length = np.argsort(data.length[first + count - 1], kind="stable")
    first, count = first[by_length], count[by_length]
    batch_of = (count.cumsum() - count) // size
    for number in range(batch_of.max(initial=-1) + 1):
        members = batch_of == number
        if members.any():
            yield make_batch(data, _questions(first[members], count[members]))


def _stories(data: Encoded) -> Int[np.ndarray, "2 s"]:
    """The stories as they are read: for each its first question and how many it has.

    Questions that begin to read at the same sentence belong to one; they stand together.
    """
    first = np.flatnonzero(np.diff(data.start, prepend=-1))
    return np.stack((first, np.diff(first, append=len(data))))


def _words(
    data: Encoded, first: Int[np.ndarray, " s"], count: Int[np.ndarray, " s"]
) -> Int[np.ndarray, " s"]:
    """How many words each story has, those of its questions included."""
    told, asked = (
        np.append(0, (table > 0).sum(axis=1)[rows].cumsum())
        for table, rows in ((data.sentences, data.told), (data.questions, data.question))
    )
    end = data.start[first] + data.length[first + count - 1]
    words: np.ndarray = told[end] - told[data.start[first]] + asked[first + count] - asked[first]
    return words


def _questions(first: Int[np.ndarray, " s"], count: Int[np.ndarray, " s"]) -> Int[np.ndarray, " n"]:
    """The questions of some stories, story after story."""
    ends = count.cumsum()
    return np.repeat(first - ends + count, count) + np.arange(ends[-1] if len(ends) else 0)


def _repeated(
    stories: Int[np.ndarray, "2 s"], count: int, random: np.random.Generator
) -> Int[np.ndarray, "2 r"]:
    """Stories with so many questions in all: each as often as any other, give or take one."""
    rounds = math.ceil(count / stories[1].sum())
    drawn = [random.permutation(stories, axis=1) for _ in range(rounds)]
    first, sizes = np.concatenate(drawn, axis=1) if drawn else stories[:, :0]
    # The last one may be too long: of it, only the first questions.
    left = count - (sizes.cumsum() - sizes)
    kept = left > 0
    return np.stack((first[kept], np.minimum(sizes, left)[kept]))


def _members(
    rows: Sequence[Int[np.ndarray, " _"]], about: Int[np.ndarray, " n"]
) -> tuple[list[Int[np.ndarray, " _"]], Int[np.ndarray, " s"]]:
    """The questions about each group of stories, and the place of each story in its group."""
    group = np.empty(sum(map(len, rows)), dtype=np.int64)
    place = np.empty_like(group)
    for number, part in enumerate(rows):
        group[part], place[part] = number, np.arange(len(part))
    return [np.flatnonzero(group[about] == number) for number in range(len(rows))], place


def _each_once(
    numbers: Int[np.ndarray, " n"], limit: int
) -> tuple[Int[np.ndarray, " u"], Int[np.ndarray, " n"]]:
    """The different numbers, all under the limit, in order, and where among them each one is.

    `np.unique` does the same by sorting, which takes some twentieth of a training step.
    """
    there = np.zeros(limit, dtype=bool)
    there[numbers] = True
    return np.flatnonzero(there), (there.cumsum() - 1)[numbers]


def _pad_stories(
    data: Encoded, begin: Int[np.ndarray, " b"], lengths: Int[np.ndarray, " b"]
) -> Int[np.ndarray, "b t"]:
    time = np.arange(lengths.max(initial=0))
    told = time < lengths[:, None]
    position = np.where(told, begin[:, None] + time, 0)
    if not len(data.told):
        return np.zeros_like(position)
    return np.where(told, data.told[position], 0)
