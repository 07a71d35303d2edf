"""Attempts in training: which are given up, which are begun anew, and when the rate falls."""

import pytest
import torch

from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.scoring import Scores
from tpr_rnn.training import trainer as trainer_module
from tpr_rnn.training.events import Evaluated, Restarted, Stopped
from tpr_rnn.training.trainer import Trainer
from training.trainers import make_trainer, nan_at, scores, scores_in_turn


def test_a_new_attempt_has_the_whole_patience(monkeypatch) -> None:
    scores_in_turn(monkeypatch, *((1.0, error) for error in (40.0, 50.0, 60.0, 50.0, 45.0)))
    trainer = make_trainer(epochs=3, attempts=2, start_decay_below=5.0, decay_epochs=1, patience=3)
    list(trainer.run())
    assert trainer.progress.attempt == 2
    assert (trainer.progress.step, trainer.progress.stopped) == (20, None)


def test_patience_waits_for_the_task_to_be_learned(monkeypatch) -> None:
    plateau = [(1.0, 50.0)] * 4
    scores_in_turn(monkeypatch, *plateau, *((1.0, error) for error in (19.0, 2.0, 3.0, 3.0)))
    trainer = make_trainer(epochs=18, start_decay_below=20.0, decay_epochs=9, patience=2)
    *_, last = trainer.run()
    assert last == Stopped(32, "no better model in 2 evaluations in a row")


def test_an_attempt_that_gets_no_better_and_is_not_good_enough_is_given_up(monkeypatch) -> None:
    errors = (19.0, 9.0, 9.5, 9.5, 19.0, 4.0, 5.0, 5.0)
    scores_in_turn(monkeypatch, *((1.0, error) for error in errors))
    trainer = make_trainer(
        epochs=18, attempts=2, start_decay_below=20.0, accept_below=5.0, decay_epochs=9, patience=2
    )
    events = list(trainer.run())
    restarts = [event for event in events if isinstance(event, Restarted)]
    assert [(event.step, event.reason) for event in restarts] == [
        (16, "still at 9.0 % after 4 epochs")
    ]
    assert events[-1] == Stopped(32, "no better model in 2 evaluations in a row")


def test_an_attempt_is_measured_by_itself_alone(monkeypatch) -> None:
    # The second attempt is never as good as the first, but it gets better all the time.
    errors = (19.0, 5.5, 5.6, 5.7, 19.0, 12.0, 9.0, 8.0, 7.0, 6.0, 6.0, 6.0)
    scores_in_turn(monkeypatch, *((1.0, error) for error in errors))
    trainer = make_trainer(
        epochs=18, attempts=2, start_decay_below=20.0, accept_below=5.0, decay_epochs=9, patience=2
    )
    *_, last = trainer.run()
    assert last == Stopped(48, "no better model in 2 evaluations in a row")
    assert trainer.progress.best == (5.5, 1.0)


def test_a_model_that_leaves_no_task_behind_is_preferred(monkeypatch) -> None:
    two = [({"1": 0.0, "2": 6.0}, 1.0), ({"1": 4.0, "2": 4.0}, 1.0), ({"1": 0.0, "2": 5.0}, 1.0)]
    evaluations = iter(Scores(loss, errors, {"1": 1, "2": 1}) for errors, loss in two)
    monkeypatch.setattr(trainer_module, "score", lambda *_: next(evaluations))
    trainer = make_trainer(epochs=5, start_decay_below=20.0, accept_below=5.0, decay_epochs=2)
    best = [event.best for event in trainer.run() if isinstance(event, Evaluated)]
    assert best == [True, True, False]
    assert (trainer.progress.best, trainer.progress.best_worst_task) == ((4.0, 1.0), 4.0)


def test_nan_in_the_warm_up_starts_anew_with_another_recorded_seed(monkeypatch) -> None:
    nan_at(monkeypatch, 2, 3)
    trainer = make_trainer(seed=5, warmup_steps=3)
    events = list(trainer.run())
    restarts = [event for event in events if isinstance(event, Restarted)]
    assert [event.step for event in restarts] == [2, 1]
    assert trainer.progress.seeds == [5, *(event.seed for event in restarts)]
    assert len(set(trainer.progress.seeds)) == 3
    assert trainer.progress.step == 12


def test_a_task_that_is_not_learned_is_tried_again_from_another_seed(monkeypatch) -> None:
    scores(monkeypatch, 60.0, 50.0, 55.0, 40.0, 2.0, 1.0)
    trainer = make_trainer(epochs=3, attempts=4, start_decay_below=5.0, decay_epochs=1)
    assert trainer.steps == 4 * 8 + 4
    events = list(trainer.run())
    restarts = [event for event in events if isinstance(event, Restarted)]
    assert [event.step for event in restarts] == [8, 16]
    assert all("not learned in 2 epochs" in event.reason for event in restarts)
    assert trainer.progress.seeds == [0, *(event.seed for event in restarts)]
    # The third attempt learned the task in its first epoch; the rate falls, and that is all.
    assert trainer.progress.step == trainer.steps == 24
    assert trainer.progress.best == (1.0, 1.0)
    rates = [event.learning_rate for event in events if isinstance(event, Evaluated)]
    assert len(set(rates[:5])) == 1
    assert rates[5] == 0


def test_several_tasks_are_learned_when_the_worst_is(monkeypatch) -> None:
    errors = iter(
        [{"1": 0.0, "2": 6.0}, {"1": 5.0, "2": 4.0}, {"1": 4.0, "2": 4.0}, {"1": 0.0, "2": 2.0}]
    )
    monkeypatch.setattr(
        trainer_module, "score", lambda *_: Scores(loss=1.0, errors=next(errors), asked={})
    )
    trainer = make_trainer(epochs=10, attempts=2, start_decay_below=5.0, decay_epochs=1)
    list(trainer.run())
    assert trainer.progress.decay_start == 12
    assert (trainer.progress.best, trainer.progress.best_worst_task) == ((1.0, 1.0), 2.0)


def hopeful_trainer() -> Trainer:
    return make_trainer(
        epochs=4, attempts=4, start_decay_below=5.0, decay_anyway_below=20.0, decay_epochs=2
    )


def test_an_attempt_that_is_nearly_there_is_not_given_up(monkeypatch) -> None:
    scores(monkeypatch, 50.0, 50.0, 50.0, 19.0, 15.0, 4.0)
    trainer = hopeful_trainer()
    events = list(trainer.run())
    assert [event.step for event in events if isinstance(event, Restarted)] == [8]
    # The second attempt is at 19 % after its two epochs: the rate falls in the two that follow.
    assert trainer.ended
    assert trainer.progress.step == 24
    assert trainer.learning_rate == 0


def test_an_attempt_that_only_seemed_nearly_there_is_given_up_in_the_end(monkeypatch) -> None:
    scores(monkeypatch, 50.0, 19.0, 18.0, 17.0, 4.0, 3.0, 2.0)
    trainer = hopeful_trainer()
    restarts = [event for event in trainer.run() if isinstance(event, Restarted)]
    assert [(event.step, event.reason) for event in restarts] == [
        (16, "still at 17.0 % after 4 epochs")
    ]
    # The second attempt learns the task in its first epoch.
    assert trainer.progress.step == 16 + 12
    assert trainer.progress.best == (2.0, 2.0)


def test_an_attempt_that_is_learned_may_not_be_good_enough(monkeypatch) -> None:
    scores(monkeypatch, 50.0, 19.0, 6.0, 15.0, 4.0)
    trainer = make_trainer(
        epochs=10, attempts=4, start_decay_below=20.0, accept_below=5.0, decay_epochs=1
    )
    restarts = [event for event in trainer.run() if isinstance(event, Restarted)]
    assert [(event.step, event.reason) for event in restarts] == [
        (12, "still at 6.0 % after 3 epochs")
    ]
    assert (trainer.progress.step, trainer.progress.best) == (20, (4.0, 4.0))


def test_the_rate_of_the_last_attempt_falls_also_in_vain(monkeypatch) -> None:
    scores(monkeypatch, 60.0, 50.0, 40.0)
    trainer = make_trainer(epochs=2, attempts=2, start_decay_below=5.0, decay_epochs=1)
    *_, last = trainer.run()
    assert (last.step, last.learning_rate) == (12, 0)
    assert trainer.ended


def test_a_learned_task_ends_with_the_fall_of_the_rate(monkeypatch) -> None:
    scores(monkeypatch, 60.0, 4.0, 3.0, 3.0)
    trainer = make_trainer(epochs=11, start_decay_below=5.0, decay_epochs=2)
    list(trainer.run())
    assert trainer.ended
    assert trainer.progress.step == trainer.steps == 16


def test_it_gives_up_after_ten_restarts(monkeypatch) -> None:
    nan_at(monkeypatch, *range(1, 12))
    with pytest.raises(UserError, match=r"became nan at the start 11 times.*smaller learning_rate"):
        list(make_trainer().run())


def test_nan_later_ends_the_run_at_its_best(monkeypatch) -> None:
    nan_at(monkeypatch, 7)
    trainer = make_trainer()
    *_, last = trainer.run()
    assert last == Stopped(6, "the loss became nan at step 7")
    assert trainer.progress.best_step == 4
    trainer.use_best()
    assert torch.isfinite(trainer.optimizer.theta).all()
