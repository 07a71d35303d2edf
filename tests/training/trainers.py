"""Trainers of small stories, and evaluations that give what a test wants."""

import math

import torch

from tpr_rnn.data.encoding import build_vocabulary, encode, longest_sentence
from tpr_rnn.data.story import Question, Story
from tpr_rnn.evaluation.scoring import Scores
from tpr_rnn.models import TPRRNNConfig
from tpr_rnn.models import model as model_module
from tpr_rnn.training import trainer as trainer_module
from tpr_rnn.training.recipe import Recipe
from tpr_rnn.training.trainer import Trainer

PLACES = ("kitchen", "garden", "office", "hallway")
STORIES = [
    Story(
        (f"Mary went to the {place}.", f"John went to the {other}."),
        (Question("Where is Mary?", place, 2), Question("Where is John?", other, 2)),
    )
    for place in PLACES
    for other in PLACES
]
VOCABULARY = build_vocabulary(STORIES)
WORDS = longest_sentence(STORIES)
DATA = encode({"1": STORIES}, VOCABULARY, WORDS)


def make_trainer(seed: int = 0, **settings) -> Trainer:
    plain = {"batch_size": 8, "epochs": 3, "warmup_steps": 2, "beta1": 0.9, "beta2": 0.999}
    config = TPRRNNConfig(
        vocabulary_size=len(VOCABULARY),
        max_words=WORDS,
        bounded_keys=True,
        embedding_scale=0.1,
        sentence_dropout=0.05,
        hidden_dropout=0.05,
    )
    return Trainer(config, Recipe(**plain | settings), train=DATA, valid=DATA, seed=seed)


def make_trainer_like(trainer: Trainer) -> Trainer:
    return Trainer(trainer.config, trainer.recipe, train=DATA, valid=DATA, seed=trainer.seed)


def assert_same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    """The same tensors, bit for bit."""
    assert one.keys() == other.keys()
    assert all(torch.equal(tensor, other[name]) for name, tensor in one.items())


def scores_in_turn(monkeypatch, *losses_and_errors: tuple[float, float]) -> None:
    """Let the evaluations give these losses and errors, one after the other."""
    turn = iter(losses_and_errors)

    def fake(model, data, device, team):
        loss, error = next(turn)
        return Scores(loss, {"1": error}, {"1": 1})

    monkeypatch.setattr(trainer_module, "score", fake)


def scores(monkeypatch, *errors: float) -> None:
    """Let the evaluations give these errors, one after the other; the losses are the same."""
    scores_in_turn(monkeypatch, *((error, error) for error in errors))


def nan_at(monkeypatch, *calls: int) -> None:
    """Let the loss be NaN at these calls, counted from 1."""
    count = 0
    real = model_module.cross_entropy

    def sometimes(*arguments, **settings):
        nonlocal count
        count += 1
        return real(*arguments, **settings) * (math.nan if count in calls else 1.0)

    monkeypatch.setattr(model_module, "cross_entropy", sometimes)
