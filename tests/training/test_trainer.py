"""The paper's protocol, step by step."""

import pytest
import torch

from tpr_rnn.data.encoding import encode
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.scoring import score
from tpr_rnn.models.memn2n import MemN2NConfig
from tpr_rnn.training import trainer as trainer_module
from tpr_rnn.training.events import Evaluated, LearningRateHalved, Stepped, Stopped
from tpr_rnn.training.random_numbers import forked
from tpr_rnn.training.recipe import Recipe
from tpr_rnn.training.trainer import Trainer
from training.trainers import (
    DATA,
    STORIES,
    VOCABULARY,
    WORDS,
    assert_same,
    make_trainer,
    scores,
    scores_in_turn,
)


def test_one_evaluation_an_epoch_and_every_step_is_told() -> None:
    trainer = make_trainer()
    events = list(trainer.run())
    assert trainer.steps == 12
    assert [event.step for event in events if isinstance(event, Stepped)] == list(range(1, 13))
    assert [event.step for event in events if isinstance(event, Evaluated)] == [4, 8, 12]
    assert trainer.ended


def test_it_learns() -> None:
    trainer = make_trainer(epochs=60, learning_rate=0.01)
    list(trainer.run())
    trainer.use_best()
    assert score(trainer.model, DATA).error == 0


def test_a_seed_repeats_bit_for_bit_and_another_differs() -> None:
    one, same, other = (make_trainer(seed) for seed in (3, 3, 4))
    for trainer in (one, same, other):
        list(trainer.run())
    assert torch.equal(one.optimizer.theta, same.optimizer.theta)
    assert not torch.equal(one.optimizer.theta, other.optimizer.theta)


def test_the_rate_is_a_tenth_in_the_warm_up(monkeypatch) -> None:
    trainer = make_trainer(learning_rate=0.5, warmup_steps=5)
    rates = []
    monkeypatch.setattr(trainer.optimizer, "step", rates.append)
    list(trainer.run())
    assert rates == [0.05] * 5 + [0.5] * 7


def test_the_rate_is_halved_once_when_the_validation_loss_is_low(monkeypatch) -> None:
    scores_in_turn(monkeypatch, (0.5, 9.0), (0.09, 8.0), (0.2, 8.0), (0.05, 8.0))
    trainer = make_trainer(epochs=4, learning_rate=0.5, warmup_steps=0, halve_lr_below_loss=0.1)
    rates = []
    monkeypatch.setattr(trainer.optimizer, "step", rates.append)
    events = list(trainer.run())
    assert rates == [0.5] * 8 + [0.25] * 8
    assert [event.step for event in events if isinstance(event, LearningRateHalved)] == [8]


def test_the_best_is_the_least_error_then_the_least_loss(monkeypatch) -> None:
    scores_in_turn(monkeypatch, (0.5, 9.0), (0.4, 8.0), (0.3, 8.0), (0.1, 8.5), (0.3, 8.0))
    trainer = make_trainer(epochs=5)
    weights, best = [], []
    for event in trainer.run():
        if isinstance(event, Evaluated):
            weights.append(trainer.optimizer.theta.clone())
            best.append(event.best)
    assert best == [True, True, True, False, False]
    trainer.use_best()
    assert torch.equal(trainer.optimizer.theta, weights[2])
    assert trainer.progress.best_step == 12


def test_training_ends_early_when_nothing_is_wrong_any_more(monkeypatch) -> None:
    perfect = (0.1, 0.0)
    scores_in_turn(monkeypatch, perfect, (0.2, 1.0), perfect, perfect, perfect)
    trainer = make_trainer(epochs=9, stop_after_zero_error=2)
    *_, last = trainer.run()
    assert isinstance(last, Stopped)
    assert last.step == 16
    assert "no validation error in 2 evaluations" in last.reason


def test_it_stops_when_no_better_model_comes(monkeypatch) -> None:
    scores_in_turn(monkeypatch, *((1.0, error) for error in (50.0, 40.0, 45.0, 40.0, 41.0)))
    trainer = make_trainer(epochs=9, patience=3)
    *_, last = trainer.run()
    assert last == Stopped(20, "no better model in 3 evaluations in a row")
    assert trainer.ended
    assert trainer.progress.best_step == 8


def test_what_is_not_learned_is_practised_most(monkeypatch) -> None:
    two = encode({"1": STORIES, "2": STORIES}, VOCABULARY, WORDS)
    practised: list[list[int]] = []
    real = trainer_module.make_batch

    def noted(*arguments):
        batch = real(*arguments)
        practised.append(batch.task.tolist())
        return batch

    monkeypatch.setattr(trainer_module, "make_batch", noted)

    def make() -> Trainer:
        trainer = make_trainer(epochs=2, error_weighted_share=0.5, batch_size=16)
        return Trainer(trainer.config, trainer.recipe, train=two, valid=two, seed=0)

    def answer(batch, logits):  # all of task 1 is right, and half of task 2 is wrong
        trainer.progress.train_asked = {"1": 32, "2": 32}
        trainer.progress.train_wrong = {"2": 16}

    trainer = make()
    monkeypatch.setattr(trainer, "_count_mistakes", answer)
    list(trainer.run())
    epochs = (practised[:4], practised[4:])
    assert [sum(batch.count(1) for batch in epoch) for epoch in epochs] == [32, 48]


def test_dropout_may_wait_for_the_decay(monkeypatch) -> None:
    def weights(steps: int, *, dropout: bool, **settings) -> torch.Tensor:
        scores(monkeypatch, 60.0, 4.0, 3.0)  # the decay starts after two epochs of four steps
        trainer = make_trainer(epochs=4, start_decay_below=5.0, decay_epochs=1, **settings)
        for module in trainer._dropouts:
            module.p = module.p if dropout else 0.0
        events = trainer.run()
        while trainer.progress.step < steps:
            next(events)
        return trainer.optimizer.theta

    def equal(steps: int, **settings) -> bool:
        one, other = (weights(steps, dropout=dropout, **settings) for dropout in (True, False))
        return torch.equal(one, other)

    assert equal(8, regularize_in_decay=True)
    assert not equal(9, regularize_in_decay=True)
    assert not equal(1)


def test_training_leaves_the_random_numbers_of_others_alone(monkeypatch) -> None:
    """Of the CPU and of the device in use; to ask every GPU of a machine is slow, and warned of."""
    asked = []
    real = torch.random.fork_rng

    def noted(devices=None, **settings):
        asked.append(devices)
        return real(devices=devices, **settings)

    monkeypatch.setattr(torch.random, "fork_rng", noted)
    torch.manual_seed(8)
    expected = torch.rand(3)
    torch.manual_seed(8)
    list(make_trainer(epochs=1).run())
    assert torch.equal(torch.rand(3), expected)
    assert asked == [[]] * (1 + 4)  # to make the model, and for each step
    gpu = torch.device("cuda", 1)
    asked.clear()
    forked(gpu)
    assert asked == [[gpu]]


def test_the_gradient_is_clipped_as_the_recipe_says(monkeypatch) -> None:
    def lengths(**settings) -> list[float]:
        trainer = make_trainer(epochs=1, **settings)
        found = []
        monkeypatch.setattr(
            trainer.optimizer,
            "step",
            lambda _: found.append(
                (trainer.optimizer.gradient.norm().item(), trainer.optimizer.gradient.abs().max())
            ),
        )
        list(trainer.run())
        return found

    free = lengths(clip_norm=None)
    assert all(norm > 1e-3 and largest > 1e-4 for norm, largest in free)
    assert all(norm == pytest.approx(1e-3) for norm, _ in lengths(clip_norm=1e-3))
    each = lengths(clip_norm=None, clip_norm_each=1e-4)
    assert all(1.1e-4 < norm < 1e-3 for norm, _ in each)
    by_value = lengths(clip_norm=None, clip_value=1e-4)
    assert all(largest == pytest.approx(1e-4) for _, largest in by_value)
    assert all(norm > 2e-4 for norm, _ in by_value)


def test_the_gradient_of_a_sum_is_that_of_the_mean_times_the_questions() -> None:
    summed, mean = (make_trainer(sum_loss=loss, clip_norm=None) for loss in (True, False))
    for trainer in (summed, mean):
        trainer._step()
    torch.testing.assert_close(summed.optimizer.gradient, 8 * mean.optimizer.gradient)
    assert summed.progress.loss_sum == mean.progress.loss_sum


def memn2n_trainer(**settings) -> Trainer:
    config = MemN2NConfig(vocabulary_size=len(VOCABULARY), max_words=WORDS, embedding_size=4)
    recipe = Recipe(batch_size=8, epochs=3, optimizer="sgd", **settings)
    return Trainer(config, recipe, train=DATA, valid=DATA, seed=0)


def test_a_linear_start_leaves_the_softmax_out_for_its_epochs_resumed_or_not() -> None:
    whole = memn2n_trainer(linear_start_epochs=2)
    linear = []
    for event in whole.run():
        if isinstance(event, Stepped):
            linear.append(bool(whole.model.linear))
    assert linear == [True] * 8 + [False] * 4
    for stop in (5, 8, 9):
        first, second = (memn2n_trainer(linear_start_epochs=2) for _ in range(2))
        for event in first.run():
            if event.step == stop:
                break
        second.restore(first.progress, {name: x.clone() for name, x in first.tensors().items()})
        list(second.run())
        assert_same(second.tensors(), whole.tensors())


def test_the_best_model_of_the_linear_start_stays_linear(monkeypatch) -> None:
    scores_in_turn(monkeypatch, (0.5, 1.0), (0.5, 9.0), (0.5, 9.0))
    trainer = memn2n_trainer(linear_start_epochs=1)
    list(trainer.run())
    assert not trainer.model.linear
    trainer.use_best()
    assert trainer.model.linear


def test_a_linear_start_needs_a_model_that_can_be_linear() -> None:
    with pytest.raises(UserError, match="which TPRRNN cannot; leave linear_start_epochs out"):
        make_trainer(linear_start_epochs=1)
