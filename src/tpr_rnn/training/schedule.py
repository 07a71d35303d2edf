"""The learning rate of every step of an attempt, and when the attempt ends."""

from dataclasses import dataclass

from tpr_rnn.training.recipe import Recipe


@dataclass(frozen=True)
class Schedule:
    """The learning rate over the steps of an attempt, which count from 0.

    A tenth of it in the warm-up; then it rises to its peak; in the end it decays to 0. The decay
    starts when the policy of attempts says so (`started`), at the latest so that it ends with the
    recipe's epochs.
    """

    recipe: Recipe
    steps_per_epoch: int

    def decay_start(self, started: int | None = None) -> int:
        """The step from which on the learning rate decays."""
        latest = max(self.recipe.epochs - self.recipe.decay_epochs, 0) * self.steps_per_epoch
        return latest if started is None else min(latest, started)

    def last_step(self, started: int | None = None) -> int:
        """The step after which the attempt ends, if nothing ends it before."""
        decay = min(self.recipe.decay_epochs, self.recipe.epochs) * self.steps_per_epoch
        return self.decay_start(started) + decay

    def learning_rate(
        self, step: int, *, started: int | None = None, attempt: int = 1, halved: bool = False
    ) -> float:
        """The learning rate of a step.

        Args:
            step: the step, counted from 0 in every attempt.
            started: when the decay was started early; None: it was not.
            attempt: which attempt it is, from 1; in every second one the rise is twice as fast.
            halved: whether the validation loss has been low enough for half the rate.
        """
        recipe = self.recipe
        half = 0.5 if halved else 1.0
        if recipe.halve_lr_every is not None:
            epochs = step // self.steps_per_epoch - recipe.linear_start_epochs
            half *= 0.5 ** max(epochs // recipe.halve_lr_every, 0)
        if step < recipe.warmup_steps:
            return recipe.learning_rate / 10 * half
        start, last = self.decay_start(started), self.last_step(started)
        base = recipe.learning_rate
        peak = base if recipe.peak_learning_rate is None else recipe.peak_learning_rate
        ramp = recipe.ramp_epochs * self.steps_per_epoch / (1 if attempt % 2 else 2)
        rate = base + (peak - base) * min(min(step, start) / ramp, 1.0)
        return half * (rate if step <= start else rate * (last - step) / (last - start))
