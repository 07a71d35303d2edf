"""Stories for word-level models: each one sequence of words, with its questions at their places."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from tpr_rnn.data.batches import Batch, StoryGroup


class WordStream(NamedTuple):
    """The stories of a group as sequences of words, padded behind their ends.

    A question stands after the sentences that it may look at and before the next one; several at
    one place stand in their order in the batch.
    """

    words: Int[Tensor, "b w"]
    """Numbers of words; 0, the padding, only behind the end of a story."""
    lengths: Int[Tensor, " b"]
    """Words of each story, those of its questions included."""
    about: Int[Tensor, " q"]
    """The story of each question: a row of `words`."""
    at: Int[Tensor, " q"]
    """The place of its last word: when that has been read, the answer is due."""
    asked: Bool[Tensor, "b w"]
    """Which words are of questions."""
    told: Bool[Tensor, "b w"]
    """Which words are of sentences."""


def word_stream(batch: Batch, group: StoryGroup) -> WordStream:
    """The stories of a group of a batch, word by word, with the questions about them."""
    begin_told, begin_asked, lengths = _begins(batch, group)
    size = len(lengths), int(lengths.max()) if len(lengths) else 0
    words = group.story.new_zeros(size)
    read = torch.arange(group.story.shape[1], device=words.device) < group.lengths.unsqueeze(1)
    story, time = read.nonzero(as_tuple=True)
    sentences = batch.sentences[group.story[story, time]]
    _place(words, story, begin_told[story, time], sentences)
    told = words > 0
    questions = batch.questions[group.question]
    _place(words, group.about, begin_asked, questions)
    at = begin_asked + _count(questions) - 1
    return WordStream(words, lengths, group.about, at, asked=(words > 0) & ~told, told=told)


def _begins(
    batch: Batch, group: StoryGroup
) -> tuple[Int[Tensor, "b t"], Int[Tensor, " q"], Int[Tensor, " b"]]:
    """The place of the first word of each sentence and of each question, and all words of each."""
    stories, times = group.story.shape
    time = torch.arange(times, device=group.story.device)
    told = _count(batch.sentences)[group.story] * (time < group.lengths.unsqueeze(1))
    asked = _count(batch.questions)[group.question]
    asked_after = told.new_zeros(stories, times + 1)
    asked_after.index_put_((group.about, group.position), asked, accumulate=True)

    told_before = _sums_before(told)
    begin_told = told_before[:, :-1] + asked_after.cumsum(dim=1)[:, :-1]
    # Through all stories, question after question; what earlier stories have is taken off again.
    order = (group.about * (times + 1) + group.position).argsort(stable=True)
    asked_before = torch.empty_like(asked)
    asked_before[order] = _sums_before(asked[order])[:-1]
    asked_before -= _sums_before(asked_after.sum(dim=1))[group.about]
    begin_asked = told_before[group.about, group.position] + asked_before
    return begin_told, begin_asked, told_before[:, -1] + asked_after.sum(dim=1)


def _sums_before(numbers: Int[Tensor, "*b t"]) -> Int[Tensor, "*b _"]:
    """The sum of all numbers before each one, and that of all of them."""
    return torch.nn.functional.pad(numbers.cumsum(dim=-1), (1, 0))


def _count(texts: Int[Tensor, "u w"]) -> Int[Tensor, " u"]:
    """How many words each text has."""
    return (texts > 0).sum(dim=1)


def _place(
    words: Int[Tensor, "b _"],
    story: Int[Tensor, " u"],
    begin: Int[Tensor, " u"],
    texts: Int[Tensor, "u w"],
) -> None:
    """Write texts into stories, each from its place on, without their padding."""
    text, word = (texts > 0).nonzero(as_tuple=True)
    words[story[text], begin[text] + word] = texts[text, word]
