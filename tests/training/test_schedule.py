"""The learning rate of every step."""

import pytest

from tpr_rnn.training.recipe import Recipe
from tpr_rnn.training.schedule import Schedule


def schedule(**settings) -> Schedule:
    return Schedule(Recipe(learning_rate=1.0, **settings), steps_per_epoch=10)


def test_the_learning_rate_warms_up_stays_and_decays() -> None:
    plain = schedule(warmup_steps=10, epochs=10, decay_epochs=5)
    assert plain.last_step() == 100
    rates = [plain.learning_rate(step) for step in (0, 9, 10, 50)]
    assert rates == [0.1, 0.1, 1.0, 1.0]
    assert plain.learning_rate(75) == pytest.approx(0.5)
    assert plain.learning_rate(99) == pytest.approx(0.02)
    assert plain.learning_rate(100) == 0
    assert schedule(epochs=10).learning_rate(99) == 1.0


RISING = {"peak_learning_rate": 3.0, "ramp_epochs": 4, "decay_epochs": 2, "epochs": 10}


def test_the_learning_rate_rises_to_its_peak_and_twice_as_fast_in_every_second_attempt() -> None:
    rising = schedule(warmup_steps=0, **RISING)
    assert [rising.learning_rate(step) for step in (0, 20, 40, 80)] == [1.0, 2.0, 3.0, 3.0]
    assert rising.learning_rate(90) == pytest.approx(1.5)
    assert rising.last_step() == 100
    assert [rising.learning_rate(10, attempt=attempt) for attempt in (1, 2, 3)] == [1.5, 2.0, 1.5]


def test_a_decay_that_is_started_early_ends_early() -> None:
    rising = schedule(warmup_steps=0, **RISING)
    assert [rising.learning_rate(step, started=20) for step in (10, 20)] == [1.5, 2.0]
    assert rising.learning_rate(30, started=20) == pytest.approx(1.0)
    assert rising.last_step(started=20) == 40
    # Where it decays anyway, a late start changes nothing.
    assert rising.last_step(started=95) == 100
    assert rising.learning_rate(98, started=95) == rising.learning_rate(98)


def test_half_is_half_at_any_step() -> None:
    rising = schedule(warmup_steps=5, **RISING)
    for step in (0, 5, 30, 90):
        whole = rising.learning_rate(step)
        assert rising.learning_rate(step, halved=True) == whole / 2 > 0


@pytest.mark.parametrize("decay_epochs", [0, 2, 6, 320])
def test_an_attempt_never_takes_more_than_its_epochs(decay_epochs) -> None:
    short = schedule(epochs=6, decay_epochs=decay_epochs)
    assert short.last_step() == 60
    assert all(short.last_step(started) <= 60 for started in range(0, 61, 10))


def test_the_learning_rate_is_halved_every_so_many_epochs_after_the_linear_start() -> None:
    halving = schedule(warmup_steps=0, epochs=12, halve_lr_every=3, linear_start_epochs=2)
    assert halving.last_step() == 120
    rates = [halving.learning_rate(10 * epoch) for epoch in range(12)]
    assert rates == [1.0] * 5 + [0.5] * 3 + [0.25] * 3 + [0.125]
    assert halving.learning_rate(49) == 1.0
    assert halving.learning_rate(50, halved=True) == 0.25
