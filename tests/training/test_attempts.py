"""The policy of attempts alone: no model, no data, ten steps an epoch."""

import math

import pytest

from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.scoring import Scores
from tpr_rnn.training.attempts import AttemptPolicy, StartAnew, Stop
from tpr_rnn.training.progress import Progress
from tpr_rnn.training.recipe import Recipe
from tpr_rnn.training.schedule import Schedule


def policy(**settings) -> AttemptPolicy:
    recipe = Recipe(**{"epochs": 6, "decay_epochs": 2, "warmup_steps": 5} | settings)
    return AttemptPolicy(recipe, Schedule(recipe, steps_per_epoch=10))


def scores(*errors: float, loss: float = 1.0) -> Scores:
    return Scores(loss, {str(task): error for task, error in enumerate(errors, start=1)}, {})


class TestStartsDecay:
    def test_below_the_bound_and_only_once(self) -> None:
        decides = policy(start_decay_below=5.0)
        now = Progress(step=10)
        assert not decides.starts_decay(now, scores(5.0))
        assert decides.starts_decay(now, scores(4.9))
        now.decay_start = 10
        assert not decides.starts_decay(now, scores(0.0))

    def test_the_worst_task_counts_not_the_mean(self) -> None:
        decides = policy(start_decay_below=5.0)
        assert scores(0.0, 0.0, 6.0).error == 2.0
        assert not decides.starts_decay(Progress(step=10), scores(0.0, 0.0, 6.0))

    def test_without_a_bound_never(self) -> None:
        assert not policy().starts_decay(Progress(step=10), scores(0.0))

    def test_at_the_last_moment_below_a_higher_bound(self) -> None:
        decides = policy(start_decay_below=5.0, decay_anyway_below=20.0)
        assert not decides.starts_decay(Progress(step=30), scores(19.0))
        assert decides.starts_decay(Progress(step=40), scores(19.0))
        assert not decides.starts_decay(Progress(step=40), scores(0.0, 20.0))
        second = Progress(step=80, attempt=2, attempt_start=40)
        assert decides.starts_decay(second, scores(19.0))


class TestBest:
    def test_the_error_counts_then_the_loss(self) -> None:
        decides = policy()
        now = Progress(best=(8.0, 0.3), best_worst_task=8.0, best_step=10)
        assert decides.is_best(now, scores(7.9, loss=9.0))
        assert decides.is_best(now, scores(8.0, loss=0.2))
        assert not decides.is_best(now, scores(8.0, loss=0.3))
        assert not decides.is_best(now, scores(8.1, loss=0.1))

    def test_one_that_would_be_accepted_is_better_than_any_that_would_not(self) -> None:
        decides = policy(start_decay_below=20.0, accept_below=5.0)
        now = Progress(best=(3.0, 1.0), best_worst_task=6.0, best_step=10)
        assert decides.is_best(now, scores(4.0, 4.0))
        now = Progress(best=(4.0, 1.0), best_worst_task=4.0, best_step=10)
        assert not decides.is_best(now, scores(0.0, 5.0))


class TestDecide:
    def test_an_attempt_that_learns_nothing_is_given_up_at_the_last_moment(self) -> None:
        decides = policy(start_decay_below=5.0, attempts=2)
        assert decides.decide(Progress(step=30)) is None
        assert decides.decide(Progress(step=40)) == StartAnew("not learned in 4 epochs")
        assert decides.decide(Progress(step=40, attempt=2)) is None, "there is no third"

    def test_an_attempt_is_accepted_or_given_up_at_its_end(self) -> None:
        decides = policy(start_decay_below=20.0, accept_below=5.0, attempts=2)
        now = Progress(step=30, decay_start=10, best_worst_task=5.0, best=(1.0, 1.0))
        assert decides.last_step(now) == 30
        assert decides.decide(now) == StartAnew("still at 5.0 % after 3 epochs")
        now.best_worst_task = 4.9
        assert decides.decide(now) is None
        now.best_worst_task, now.step = 5.0, 20
        assert decides.decide(now) is None, "it is not over yet"

    def test_evaluations_without_an_error_end_the_run(self) -> None:
        decides = policy(stop_after_zero_error=3)
        assert decides.decide(Progress(step=30, zero_error_evaluations=2)) is None
        reason = "no validation error in 3 evaluations in a row"
        assert decides.decide(Progress(step=30, zero_error_evaluations=3)) == Stop(reason)

    def test_patience_counts_from_the_last_improvement(self) -> None:
        decides = policy(patience=2)
        assert decides.decide(Progress(step=30, last_improvement=20)) is None
        reason = "no better model in 2 evaluations in a row"
        assert decides.decide(Progress(step=40, last_improvement=20)) == Stop(reason)

    def test_patience_counts_from_the_start_of_the_decay(self) -> None:
        decides = policy(patience=2, start_decay_below=20.0, epochs=90, decay_epochs=50)
        assert decides.decide(Progress(step=90, last_improvement=20)) is None
        now = Progress(step=90, last_improvement=20, decay_start=80)
        assert decides.decide(now) is None
        now.step = 100
        assert isinstance(decides.decide(now), Stop)

    def test_patience_counts_from_the_start_of_the_attempt(self) -> None:
        decides = policy(patience=2, epochs=90)
        now = Progress(step=60, attempt=2, attempt_start=50, last_improvement=20)
        assert decides.decide(now) is None

    def test_an_attempt_that_gets_no_better_is_given_up_if_it_is_not_good_enough(self) -> None:
        decides = policy(
            patience=2,
            start_decay_below=20.0,
            attempts=2,
            accept_below=5.0,
            epochs=90,
            decay_epochs=9,
        )
        now = Progress(step=40, last_improvement=20, decay_start=20, best_worst_task=9.0)
        assert decides.decide(now) == StartAnew("still at 9.0 % after 4 epochs")
        now.attempt = 2
        assert decides.decide(now) == Stop("no better model in 2 evaluations in a row")


def test_the_last_step_counts_the_attempts_that_are_left() -> None:
    decides = policy(start_decay_below=5.0, attempts=3)
    assert decides.last_step(Progress()) == 40 + 40 + 60
    second = Progress(step=40, attempt=2, attempt_start=40)
    assert decides.last_step(second) == 140
    second.decay_start = 50
    assert decides.last_step(second) == 50 + 20


class TestExpectedLastStep:
    def test_it_is_that_of_the_present_attempt(self) -> None:
        decides = policy(start_decay_below=5.0, attempts=3)
        assert decides.expected_last_step(Progress()) == 60
        second = Progress(step=45, attempt=2, attempt_start=40)
        assert decides.expected_last_step(second) == 100
        second.decay_start = 50
        assert decides.expected_last_step(second) == 50 + 20

    def test_one_without_an_error_is_expected_to_stop_early(self) -> None:
        decides = policy(epochs=90, stop_after_zero_error=4)
        now = Progress(step=33, last_evaluation=30)
        assert decides.expected_last_step(now) == 900
        now.zero_error_evaluations = 1
        assert decides.expected_last_step(now) == 30 + 3 * 10

    def test_it_is_where_a_run_has_stopped(self) -> None:
        now = Progress(step=33, stopped="no validation error")
        assert policy().expected_last_step(now) == 33


def test_so_few_epochs_that_all_are_decay_are_one_attempt() -> None:
    decides = policy(start_decay_below=5.0, accept_below=1.0, attempts=8, epochs=6, decay_epochs=9)
    learned = Progress(step=60, decay_start=30, best_worst_task=4.0)
    assert decides.last_step(learned) == 60
    assert decides.decide(learned) is None


class TestNaN:
    def test_at_the_start_another_seed_is_tried(self) -> None:
        reason = "the loss became nan at step 4"
        early = Progress(step=3, seeds=[1], best_step=2)
        assert policy().decide_after_nan(early, math.nan) == StartAnew(reason)
        never_scored = Progress(step=8, seeds=[1])
        assert isinstance(policy().decide_after_nan(never_scored, math.inf), StartAnew)

    def test_later_it_ends_the_run(self) -> None:
        late = Progress(step=5, seeds=[1], best_step=2)
        assert policy().decide_after_nan(late, math.nan) == Stop("the loss became nan at step 6")

    def test_ten_times_are_enough(self) -> None:
        now = Progress(seeds=list(range(10)))
        assert isinstance(policy().decide_after_nan(now, math.nan), StartAnew)
        now.seeds.append(10)
        with pytest.raises(UserError, match=r"nan at the start 11 times.*smaller learning_rate"):
            policy().decide_after_nan(now, math.nan)
