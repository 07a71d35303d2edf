"""Small stories for models that read sentence by sentence, and a comparison with plain loops."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tpr_rnn.data.batches import Batch, make_batch
from tpr_rnn.data.encoding import build_vocabulary, encode, longest_sentence
from tpr_rnn.data.story import Question, Story
from tpr_rnn.models.model import Model, ModelConfig

SENTENCES = ("Mary went home.", "John left.", "Mary took the big apple.", "John went home.")
STORIES = [
    Story(
        tuple(SENTENCES[(first + place) % 4] for place in range(length)),
        tuple(
            Question(f"Where is {name}?", answer, after)
            for name, answer, after in (
                ("Mary", "home", length // 3),
                ("the big apple", "big", length // 2),
                ("John", "left", length),
            )
        ),
    )
    for first, length in ((0, 1), (1, 5), (2, 8), (3, 3), (0, 2))
]  # the questions after length 1 // 3 have no sentence before them
VOCABULARY = build_vocabulary(STORIES)
WORDS = longest_sentence(STORIES)
DATA = encode({"1": STORIES}, VOCABULARY, WORDS)
SIZES = {"vocabulary_size": len(VOCABULARY), "max_words": WORDS}

Words = list[int]
Reference = Callable[[list[Words], Words], Tensor]
"""The scores of all words, from the sentences before a question and the question."""


def all_questions(groups: int = 1) -> Batch:
    """All questions as a batch."""
    return make_batch(DATA, np.arange(len(DATA)), groups)


def asked(batch: Batch) -> Iterator[tuple[list[Words], Words]]:
    """The words of the sentences before each question, and of the question, without padding."""

    def words(row: Tensor) -> Words:
        return [word for word in row.tolist() if word]

    for group in batch.groups:
        for about, position, question in zip(
            group.about.tolist(), group.position.tolist(), group.question.tolist(), strict=True
        ):
            told = group.story[about, :position].tolist()
            yield [words(batch.sentences[row]) for row in told], words(batch.questions[question])


def made(kind: Callable[[ModelConfig], Model], config: ModelConfig) -> Any:
    """A model in float64, with parameters of a size at which every part of it matters."""
    torch.set_default_dtype(torch.float64)  # not .double(): its constants should be exact too
    try:
        model = kind(config)
    finally:
        torch.set_default_dtype(torch.float32)
    generator = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        parameter.data.normal_(0, 0.5, generator=generator)
    return model.eval()


def assert_equal(model: Model, reference: Reference) -> None:
    """The model gives the scores, and all gradients, of the plain loops."""
    for groups in (1, 3):
        batch = all_questions(groups)
        logits = model(batch)
        expected = torch.stack([reference(story, question) for story, question in asked(batch)])
        torch.testing.assert_close(logits, expected, rtol=1e-10, atol=1e-12)
        weight = torch.randn(logits.shape, dtype=logits.dtype)
        parameters = dict(model.named_parameters())
        ours, theirs = (
            torch.autograd.grad((scores * weight).sum(), list(parameters.values()))
            for scores in (logits, expected)
        )
        for name, one, other in zip(parameters, ours, theirs, strict=True):
            assert one.abs().max() > 0, name
            torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-10, msg=name)
