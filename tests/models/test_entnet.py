"""EntNet against its equations, one slot, sentence and word at a time."""

import pytest
import torch
from torch import Tensor

from models.sentence_level import SIZES, all_questions, assert_equal, made
from tpr_rnn.memory.native import build
from tpr_rnn.models import entnet, slots
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


@pytest.mark.parametrize("form", [slots.packed, slots.step_by_step])
def test_it_follows_the_equations(monkeypatch, form) -> None:
    monkeypatch.setattr(entnet, "states_at_questions", form)
    assert build.load(slots.DIRECTORY).loaded, "the kernel can be compiled here"
    model = make_model()
    assert_equal(model, PlainLoops(model))


def test_the_kernel_is_used_where_it_can_be(monkeypatch) -> None:
    model, [group] = make_model(), all_questions().groups
    used = []

    def noted(form: str):
        def read(_slots, group):
            used.append(form)
            return torch.zeros(len(group.about), 4, D)

        return read

    for form in ("packed", "step_by_step"):
        monkeypatch.setattr(slots, form, noted(form))
    for loaded in (True, False):
        monkeypatch.setattr(build, "load", lambda _, loaded=loaded: build.Kernel(loaded, ""))
        slots.states_at_questions(model._slots(model.words), group)
    assert used == ["packed", "step_by_step"]


def test_the_kernel_gives_the_same_where_no_gradient_is_wanted() -> None:
    model, batch = make_model(), all_questions(3)
    with torch.no_grad():
        without = model(batch)
    assert torch.equal(without, model(batch))


def test_masks_start_as_in_the_released_program() -> None:
    model = EntNet(EntNetConfig(**SIZES))
    assert (model.question_mask == 1).all()
    assert (model.slope == 1).all()
    assert 0.05 < model.sentence_mask.std() < 0.15
