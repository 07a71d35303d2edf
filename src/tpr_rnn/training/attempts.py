"""The policy of attempts: when to start the decay, to stop, to give up and to start anew.

Whether a task is learned depends on the seed. An attempt whose validation error falls below
`start_decay_below` is worth finishing: its learning rate decays. One that does not come so far in
its epochs, or that is not below `accept_below` in the end, is given up, and another seed is tried.
"""

from dataclasses import dataclass

from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.scoring import Scores
from tpr_rnn.training.progress import DIVERGED, Progress
from tpr_rnn.training.recipe import Recipe
from tpr_rnn.training.schedule import Schedule

NAN_RESTARTS = 10
"""So many NaNs at the start are forgiven."""


@dataclass(frozen=True)
class Stop:
    """End the run before its last step."""

    reason: str


@dataclass(frozen=True)
class StartAnew:
    """Give the attempt up and begin another one."""

    reason: str


@dataclass(frozen=True)
class AttemptPolicy:
    """Decides after every evaluation how a run goes on; of several tasks the worst one counts."""

    recipe: Recipe
    schedule: Schedule

    def last_step(self, progress: Progress) -> int:
        """The step after which the run ends, at most: as if all attempts left were given up."""
        last = progress.attempt_start + self.schedule.last_step(progress.attempt_decay_start)
        if progress.decay_start is not None:
            return last
        left = self.recipe.attempts - progress.attempt
        return last + left * self.schedule.decay_start()

    def expected_last_step(self, progress: Progress) -> int:
        """The step after which the run ends if the present attempt is its last.

        One without a validation error is expected to stay so, and then to stop early.
        """
        if progress.stopped is not None:
            return progress.step
        last = progress.attempt_start + self.schedule.last_step(progress.attempt_decay_start)
        enough, so_far = self.recipe.stop_after_zero_error, progress.zero_error_evaluations
        if enough is None or so_far == 0:
            return last
        left = (enough - so_far) * self.schedule.steps_per_epoch
        return min(last, progress.last_evaluation + left)

    def is_best(self, progress: Progress, valid: Scores) -> bool:
        """Whether a model is better than the best so far.

        One that would be accepted is better than one that would not; then the error counts, and
        last the loss.
        """
        best = (not self._accepted(progress.best_worst_task), *progress.best)
        return (not self._accepted(valid.worst), valid.error, valid.loss) < best

    def starts_decay(self, progress: Progress, valid: Scores) -> bool:
        """Whether the learning rate should decay from now on."""
        if progress.decay_start is not None:
            return False
        below = self.recipe.start_decay_below or 0.0
        if self._out_of_epochs(progress):
            below = max(below, self.recipe.decay_anyway_below)
        return valid.worst < below

    def decide(self, progress: Progress) -> Stop | StartAnew | None:
        """Whether to stop or to start anew after an evaluation; None: neither."""
        last = progress.step == self.last_step(progress)
        reason = None if last else self._stop_reason(progress)
        if self._gives_up(progress, ends=last or reason is not None):
            epochs = progress.attempt_step // self.schedule.steps_per_epoch
            if progress.decay_start is None:
                return StartAnew(f"not learned in {epochs} epochs")
            return StartAnew(f"still at {progress.best_worst_task:.1f} % after {epochs} epochs")
        return Stop(reason) if reason else None

    def decide_after_nan(self, progress: Progress, loss: float) -> Stop | StartAnew:
        """What to do when the loss is no longer a number: at the start another seed may help."""
        step = progress.step + 1
        if progress.step >= self.recipe.warmup_steps and progress.best_step is not None:
            return Stop(f"{DIVERGED} {loss} at step {step}")
        if len(progress.seeds) > NAN_RESTARTS:
            raise UserError(
                f"{DIVERGED} {loss} at the start {len(progress.seeds)} times, with the seeds "
                f"{', '.join(map(str, progress.seeds))}; try a smaller learning_rate, "
                "or bounded_keys=true"
            )
        return StartAnew(f"{DIVERGED} {loss} at step {step}")

    def _stop_reason(self, progress: Progress) -> str | None:
        recipe = self.recipe
        if progress.zero_error_evaluations == recipe.stop_after_zero_error:
            return f"no validation error in {progress.zero_error_evaluations} evaluations in a row"
        if recipe.start_decay_below is not None and progress.decay_start is None:
            return None  # a plateau is left or given up; to wait is what its epochs are for
        since = max(progress.last_improvement, progress.decay_start or progress.attempt_start)
        waited = (progress.step - since) // self.schedule.steps_per_epoch
        if recipe.patience is not None and waited >= recipe.patience:
            return f"no better model in {waited} evaluations in a row"
        return None

    def _gives_up(self, progress: Progress, *, ends: bool) -> bool:
        """Whether the attempt is not good enough, and there is another one."""
        if self.recipe.start_decay_below is None or progress.attempt == self.recipe.attempts:
            return False
        if self.schedule.decay_start() == 0:  # so few epochs that the rate decays from the start
            return False
        if progress.decay_start is None:
            return self._out_of_epochs(progress)
        return ends and not self._accepted(progress.best_worst_task)

    def _out_of_epochs(self, progress: Progress) -> bool:
        """Whether this is the last moment for the decay to start."""
        return progress.attempt_step == self.schedule.decay_start()

    def _accepted(self, worst_task: float) -> bool:
        """Whether a model with this error in its worst task is good enough in the end."""
        below = self.recipe.accept_below or self.recipe.start_decay_below
        return below is None or worst_task < below
