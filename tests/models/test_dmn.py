"""DMN+ against its equations, one fact and one word at a time."""

import pytest
import torch
from torch import Tensor, nn

from models.sentence_level import SIZES, all_questions, assert_equal, made
from tpr_rnn.models.dmn import DMN, DMNConfig

D = 6
ZERO = torch.zeros(D, dtype=torch.float64)


def make_model(**settings) -> DMN:
    return made(DMN, DMNConfig(**SIZES, **{"hidden_size": D, **settings}))


def gru(module: nn.GRU, inputs: list[Tensor]) -> list[Tensor]:
    """Eq. 1-4, all states."""
    w, u, b, b_u = (
        getattr(module, f"{name}_l0").chunk(3)
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    h, states = ZERO, []
    for x in inputs:
        r = torch.sigmoid(w[0] @ x + b[0] + u[0] @ h + b_u[0])
        update = 1 - torch.sigmoid(w[1] @ x + b[1] + u[1] @ h + b_u[1])
        candidate = torch.tanh(w[2] @ x + b[2] + r * (u[2] @ h + b_u[2]))
        h = update * candidate + (1 - update) * h
        states.append(h)
    return states


class PlainLoops:
    """Section 3."""

    def __init__(self, model: DMN) -> None:
        self.model = model

    def encode(self, words: list[int]) -> Tensor:
        longest, total = self.model.config.max_words, ZERO
        for j, word in enumerate(words, start=1):
            weights = [
                1 + 4 * (j - (longest + 1) / 2) * (k - (D + 1) / 2) / (longest * D)
                for k in range(1, D + 1)
            ]
            total = total + torch.tensor(weights, dtype=torch.float64) * self.model.words[word - 1]
        return total

    def __call__(self, story: list[list[int]], question: list[int]) -> Tensor:
        model = self.model
        q = gru(model.question_gru, [model.words[word - 1] for word in question])[-1]
        encoded = [self.encode(words) for words in story]
        back = gru(model.back_gru, encoded[::-1])[::-1]
        facts = [a + b for a, b in zip(gru(model.forth_gru, encoded), back, strict=True)]
        m = q
        for update in model.memory_updates:
            scores = []
            for f in facts:
                z = torch.cat((f * q, f * m, (f - q).abs(), (f - m).abs()))
                hidden = torch.tanh(model.attention.weight @ z + model.attention.bias)
                score = model.attention_score.weight[0] @ hidden + model.attention_score.bias[0]
                scores.append(score.exp())
            c = self.episode(facts, [score / sum(scores) for score in scores])
            m = (update.weight @ torch.cat((m, c, q)) + update.bias).clamp(min=0)
        return model.answer.weight @ torch.cat((q, m)) + model.answer.bias

    def episode(self, facts: list[Tensor], attention: list[Tensor]) -> Tensor:
        cell = self.model.episode_gru
        (w_r, w), (u_r, u), (b_r, b) = (
            part.chunk(2) for part in (cell.input_weight, cell.hidden_weight, cell.bias)
        )
        h = ZERO
        for f, g in zip(facts, attention, strict=True):
            r = torch.sigmoid(w_r @ f + u_r @ h + b_r)
            candidate = torch.tanh(w @ f + r * (u @ h) + b)
            h = g * candidate + (1 - g) * h
        return h


def test_it_follows_the_equations() -> None:
    model = make_model(dropout=0.3)
    assert_equal(model, PlainLoops(model))


def test_dropout_is_for_training_alone() -> None:
    batch = all_questions()
    model = make_model(dropout=0.5)
    assert not torch.equal(model.train()(batch), model(batch))
    assert torch.equal(model.eval()(batch), make_model(dropout=0.0).train()(batch))


def test_weights_start_by_xavier_gate_by_gate() -> None:
    model = DMN(DMNConfig(**SIZES, hidden_size=80))
    bound = (6 / 160) ** 0.5
    for weight in (model.back_gru.weight_ih_l0, model.episode_gru.hidden_weight):
        for gate in weight.split(80):
            assert gate.abs().max().item() == pytest.approx(bound, rel=0.01)
    assert model.words.abs().max().item() == pytest.approx(3**0.5, rel=0.01)
    assert not model.attention.bias.any()
