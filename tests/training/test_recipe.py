import pytest

from tpr_rnn.training.recipe import Recipe


def test_the_rate_warms_up_stays_and_falls() -> None:
    recipe = Recipe(learning_rate=1.0, warmup_steps=10, epochs=10, decay_epochs=5)
    assert recipe.last_step(10) == 100
    assert [recipe.rate(step, 10) for step in (0, 9, 10, 50)] == [0.1, 0.1, 1.0, 1.0]
    assert recipe.rate(75, 10) == pytest.approx(0.5)
    assert recipe.rate(99, 10) == pytest.approx(0.02)
    assert Recipe(learning_rate=1.0, epochs=10).rate(99, 10) == 1.0


def test_the_rate_rises_until_the_task_is_learned() -> None:
    recipe = Recipe(
        learning_rate=1.0,
        peak_learning_rate=3.0,
        ramp_epochs=4,
        decay_epochs=2,
        epochs=10,
        warmup_steps=0,
    )
    assert [recipe.rate(step, 10) for step in (0, 20, 40, 80)] == [1.0, 2.0, 3.0, 3.0]
    assert recipe.rate(90, 10) == pytest.approx(1.5)
    assert recipe.last_step(10) == 100
    assert recipe.rate(10, 10, attempt=2) == 2.0
    assert recipe.rate(3, 10, attempt=3) == recipe.rate(3, 10) < recipe.rate(3, 10, attempt=2)
    # Learned after two epochs: from there it falls, and with it the attempt ends.
    assert [recipe.rate(step, 10, decay_from=20) for step in (10, 20)] == [1.5, 2.0]
    assert recipe.rate(30, 10, decay_from=20) == pytest.approx(1.0)
    assert recipe.last_step(10, decay_from=20) == 40
    # Learned when the rate falls anyway: nothing changes.
    assert recipe.last_step(10, decay_from=95) == 100
    assert recipe.rate(98, 10, decay_from=95) == recipe.rate(98, 10)
