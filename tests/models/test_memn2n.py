"""MemN2N against its equations, one sentence and one word at a time."""

import pytest
import torch
from torch import Tensor

from models.sentence_level import SIZES, all_questions, assert_equal, made
from tpr_rnn.errors import UserError
from tpr_rnn.models.memn2n import MemN2N, MemN2NConfig

D = 6


def make_model(**settings) -> MemN2N:
    config = MemN2NConfig(**SIZES, **{"embedding_size": D, "memory_size": 6, **settings})
    return made(MemN2N, config)


class PlainLoops:
    """Section 2 and section 4.1."""

    def __init__(self, model: MemN2N) -> None:
        self.model, self.config = model, model.config
        matrices = list(model.matrices)
        hops = self.config.hops
        if self.config.tying == "adjacent":
            assert len(matrices) == hops + 1
            self.a, self.c = matrices[:hops], matrices[1:]
            self.b, self.w = self.a[0], self.c[-1]
        else:
            a, c, self.b, self.w = matrices
            self.a, self.c = [a] * hops, [c] * hops
        self.words = self.config.vocabulary_size - 1

    def encode(self, matrix: Tensor, words: list[int]) -> Tensor:
        longest = self.config.max_words
        total = torch.zeros(D, dtype=torch.float64)
        for j, word in enumerate(words, start=1):
            weights = [
                1 + 4 * (j - (longest + 1) / 2) * (k - (D + 1) / 2) / (longest * D)
                for k in range(1, D + 1)
            ]
            total = total + torch.tensor(weights, dtype=torch.float64) * matrix[word - 1]
        return total

    def __call__(self, story: list[list[int]], question: list[int]) -> Tensor:
        u = self.encode(self.b, question)
        newest_first = story[::-1][: self.config.memory_size]
        for a, c in zip(self.a, self.c, strict=True):
            m = [self.encode(a, x) + a[self.words + age] for age, x in enumerate(newest_first)]
            scores = [u @ m_i for m_i in m]
            if not self.model.linear:
                total = sum(score.exp() for score in scores)
                scores = [score.exp() / total for score in scores]
            o = torch.zeros(D, dtype=torch.float64)
            for age, (p, x) in enumerate(zip(scores, newest_first, strict=True)):
                o = o + p * (self.encode(c, x) + c[self.words + age])
            u = (u if self.model.h is None else self.model.h @ u) + o
            if self.config.relu:
                u = u.clamp(min=0)
        null = torch.zeros(1, dtype=torch.float64)
        return torch.cat((null, self.w[: self.words] @ u))


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("tying", ["adjacent", "layer-wise"])
def test_it_follows_the_equations(tying, relu, linear) -> None:
    model = make_model(tying=tying, relu=relu)
    model.set_linear(linear)
    assert_equal(model, PlainLoops(model))


def test_a_story_longer_than_the_memory_is_its_last_sentences() -> None:
    model = make_model(memory_size=3)
    assert_equal(model, PlainLoops(model))


def test_time_noise_spreads_the_sentences_over_more_places_and_keeps_their_order() -> None:
    model = make_model(memory_size=50, time_noise=0.25)
    lengths = torch.tensor([0, 1, 8, 20, 20]).repeat(50)
    age = lengths.unsqueeze(1) - 1 - torch.arange(20)
    noisy = model._with_noise(age, age >= 0)
    most = []
    for n, before, row in zip(lengths.tolist(), age, noisy, strict=True):
        times = row[before >= 0]
        assert (times >= before[before >= 0]).all()
        assert (times.diff() < 0).all()
        most.append((n, times.max().item() - n + 1 if n else 0))
    for n, empty in ((1, 1), (8, 2), (20, 5)):
        assert {count for length, count in most if length == n} == set(range(empty + 1))


def test_noise_is_for_training_alone() -> None:
    batch = all_questions()
    model = make_model(memory_size=50, time_noise=0.9)
    assert not torch.equal(model.train()(batch), model(batch))
    assert torch.equal(model.eval()(batch), model(batch))
    silent = make_model(memory_size=50, time_noise=0.0)
    assert torch.equal(silent.train()(batch), silent.eval()(batch))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tying": "none"}, "tying is adjacent or layer-wise, not 'none'"),
        ({"hops": 0}, "hops must be from 1"),
        ({"time_noise": 1.0}, "time_noise must be at least 0 and under 1"),
    ],
)
def test_senseless_settings_are_refused(settings, message) -> None:
    with pytest.raises(UserError, match=message):
        MemN2NConfig(**SIZES, **settings)
