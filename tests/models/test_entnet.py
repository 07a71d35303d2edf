"""EntNet against its equations, one slot, sentence and word at a time."""

import torch
from torch import Tensor

from models.sentence_level import SIZES, assert_equal, made
from tpr_rnn.models.entnet import EntNet, EntNetConfig

D = 6


def make_model(**settings) -> EntNet:
    config = EntNetConfig(**SIZES, **{"embedding_size": D, "slots": 4, **settings})
    return made(EntNet, config)


class PlainLoops:
    """Section 2: a story for each question anew."""

    def __init__(self, model: EntNet) -> None:
        self.model = model

    def encode(self, mask: Tensor, words: list[int]) -> Tensor:
        total = torch.zeros(D, dtype=torch.float64)
        for f, word in zip(mask, words, strict=False):
            total = total + f * self.model.words[word - 1]
        return total

    def phi(self, x: Tensor) -> Tensor:
        return x.clamp(min=0) + self.model.slope * x.clamp(max=0)

    def __call__(self, story: list[list[int]], question: list[int]) -> Tensor:
        model = self.model
        slots = [key.clone() for key in model.keys]
        for words in story:
            s = self.encode(model.sentence_mask, words)
            for j, w in enumerate(model.keys):
                h = slots[j]
                g = torch.sigmoid(s @ h + s @ w + model.gate_bias[j])
                candidate = self.phi(model.u @ h + model.v @ w + model.w @ s + model.candidate_bias)
                h = h + g * candidate
                slots[j] = h / (h * h).sum().sqrt()
        q = self.encode(model.question_mask, question)
        scores = [(q @ h).exp() for h in slots]
        u = sum(score * h for score, h in zip(scores, slots, strict=True)) / sum(scores)
        return model.r @ self.phi(q + model.h @ u)


def test_it_follows_the_equations() -> None:
    model = make_model()
    assert_equal(model, PlainLoops(model))


def test_masks_start_as_in_the_released_program() -> None:
    model = EntNet(EntNetConfig(**SIZES))
    assert (model.question_mask == 1).all()
    assert (model.slope == 1).all()
    assert 0.05 < model.sentence_mask.std() < 0.15
