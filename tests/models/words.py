"""Small stories for tests of models that read words."""

import numpy as np
import torch

from tpr_rnn.data.batches import Batch, make_batch
from tpr_rnn.data.encoding import build_vocabulary, encode, longest_sentence
from tpr_rnn.data.story import Question, Story

STORIES = [
    Story(
        ("Mary went home.", "John left.", "Mary left again."),
        (Question("Where is Mary?", "home", 1), Question("Where is John?", "left", 3)),
    ),
    Story(("John went home.",), (Question("Where is John?", "home", 1),)),
    Story((), (Question("Where is Mary?", "nowhere", 0),)),
]
VOCABULARY = build_vocabulary(STORIES)
WORDS = longest_sentence(STORIES)
SIZES = {"vocabulary_size": len(VOCABULARY), "max_words": WORDS}


def batch_of(*stories: Story) -> Batch:
    """All questions of some stories."""
    data = encode({"1": list(stories)}, VOCABULARY, WORDS)
    return make_batch(data, np.arange(len(data)))


STREAMS = [  # the words that are read until each question, the story's earlier questions included
    "mary went home . where is mary ?",
    "mary went home . where is mary ? john left . mary left again . where is john ?",
    "john went home . where is john ?",
    "where is mary ?",
]


def numbers(text: str) -> list[int]:
    """The words of a stream."""
    return [VOCABULARY.number(word) for word in text.split()]


def gradients(
    model: torch.nn.Module, output: torch.Tensor, seed: int = 0
) -> dict[str, torch.Tensor]:
    """The gradients of a random sum of outputs, by parameter."""
    weights = torch.randn(
        output.shape, generator=torch.Generator().manual_seed(seed), dtype=output.dtype
    )
    named = dict(model.named_parameters())
    found = torch.autograd.grad((weights * output).sum(), list(named.values()))
    return dict(zip(named, found, strict=True))


def larger(model: torch.nn.Module, seed: int) -> torch.nn.Module:
    """A model with larger weights, so that gates open and close, and a memory fills."""
    generator = torch.Generator().manual_seed(seed)
    model = model.double()
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter += 0.8 * noise
    return model


def softmax(values: list[torch.Tensor]) -> list[torch.Tensor]:
    exponentials = [value.exp() for value in values]
    return [value / sum(exponentials) for value in exponentials]


def cosine(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x.dot(y) / ((x.dot(x) + 1e-6).sqrt() * (y.dot(y) + 1e-6).sqrt())
