"""How a training run goes, as data: a frozen recipe, with the rate of every step."""

import math
from dataclasses import dataclass

from tpr_rnn.data.encoding import StoryCap
from tpr_rnn.errors import UserError


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How to train; the defaults are the paper's single-task recipe (appendix A)."""

    batch_size: int = 128
    """Questions in a batch."""
    error_weighted_share: float = 0.0
    """Share of an epoch that goes to the tasks by their errors in the last one, so that what is
    not learned yet is practised most; the rest goes to all questions alike."""
    random_name_share: float = 0.0
    """Share of the batches in which every name (a word that questions write with a capital, though
    not at the start) is new to the model; it goes with the rate, up in the warm-up and down in the
    fall. With any, the vectors of names are not trained."""
    epochs: int = 150
    """Passes through the training questions in an attempt, at most; the paper does not say how
    many."""
    attempts: int = 1
    """Attempts in all: where the task is not learned, start anew from another seed. In every second
    one the rate rises twice as fast, for some tasks need it slow and some fast."""
    start_decay_below: float | None = None
    """The validation error, in %, below which a task counts as learned, and of several each one;
    None: it never does."""
    decay_anyway_below: float = 0.0
    """An attempt that has not learned the task after all epochs, but whose validation error (of
    several tasks: in the worst) is below this, is not given up yet: its rate falls, which may be
    all that it needs."""
    accept_below: float | None = None
    """The validation error, in %, and of several tasks that of the worst, below which an attempt
    that has learned the task is accepted at its end, and a model preferred to any that is not;
    None: as `start_decay_below`."""
    learning_rate: float = 0.008
    """Rate after the warm-up."""
    peak_learning_rate: float | None = None
    """The rate rises to this while the task is not learned; None: it stays."""
    ramp_epochs: int = 1
    """Epochs that the rise takes."""
    decay_epochs: int = 0
    """The last of these epochs, in which the learning rate falls to 0; they begin earlier where the
    task is learned earlier."""
    beta1: float = 0.6
    """NAdam's memory of the gradient."""
    beta2: float = 0.4
    """NAdam's memory of its square."""
    epsilon: float = 1e-8
    """NAdam's guard against division by zero."""
    clip_norm: float = 5.0
    """Largest global norm of the gradient; the paper is silent, its released code has 5."""
    warmup_steps: int = 50
    """First steps, at a tenth of the rate; a NaN in them starts anew with another seed."""
    halve_lr_below_loss: float | None = 0.1
    """Halve the rate once, when the validation loss falls below this; None: never."""
    stop_after_zero_error: int | None = None
    """End after so many evaluations in a row without a validation error; None: never early."""
    patience: int | None = None
    """End after so many evaluations in a row without a better model, and where a task has to be
    learned first, not before it is; None: never early."""
    max_sentences: int = 70
    """Sentences before a question that are read."""
    story_cap_task_3: int = 130
    """The same in task 3, whose facts lie further back."""

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        counts = ("batch_size", "epochs", "attempts", "ramp_epochs")
        for name in (*counts, "max_sentences", "story_cap_task_3"):
            if not (isinstance(getattr(self, name), int) and getattr(self, name) >= 1):
                raise UserError(f"{name} must be 1 or more, not {getattr(self, name)}")
        for name in ("learning_rate", "epsilon", "clip_norm"):
            if not 0 < getattr(self, name) < math.inf:
                raise UserError(f"{name} must be over 0, not {getattr(self, name)}")
        for name in ("beta1", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise UserError(f"{name} must be at least 0 and under 1, not {getattr(self, name)}")
        for name in ("error_weighted_share", "random_name_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise UserError(f"{name} must be from 0 to 1, not {getattr(self, name)}")
        for name in ("warmup_steps", "decay_epochs"):
            if getattr(self, name) < 0:
                raise UserError(f"{name} must be 0 or more, not {getattr(self, name)}")
        if (
            self.peak_learning_rate is not None
            and not self.learning_rate <= self.peak_learning_rate < math.inf
        ):
            raise UserError(
                f"peak_learning_rate must be at least learning_rate ({self.learning_rate}), "
                f"not {self.peak_learning_rate}"
            )
        if self.attempts > 1 and self.start_decay_below is None:
            raise UserError("more attempts than one need start_decay_below, to know a failed one")
        for name in ("stop_after_zero_error", "patience"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise UserError(f"{name} must be 1 or more, or none, not {number}")

    @property
    def cap(self) -> StoryCap:
        """How many sentences of a story are read."""
        return StoryCap(usual=self.max_sentences, task_3=self.story_cap_task_3)

    def decay_step(self, steps_per_epoch: int, decay_from: int | None = None) -> int:
        """From when on the rate falls: when the task is learned, at the latest after all epochs."""
        latest = max(self.epochs - self.decay_epochs, 0) * steps_per_epoch
        return latest if decay_from is None else min(latest, decay_from)

    def last_step(self, steps_per_epoch: int, decay_from: int | None = None) -> int:
        """When an attempt ends that is not given up."""
        decay = min(self.decay_epochs, self.epochs) * steps_per_epoch
        return self.decay_step(steps_per_epoch, decay_from) + decay

    def rate(
        self, step: int, steps_per_epoch: int, decay_from: int | None = None, attempt: int = 1
    ) -> float:
        """The rate of a step, before any halving; steps count from 0 in every attempt.

        A tenth in the warm-up; then it rises to its top; in the end it falls to 0.
        """
        if step < self.warmup_steps:
            return self.learning_rate / 10
        fall = self.decay_step(steps_per_epoch, decay_from)
        last = self.last_step(steps_per_epoch, decay_from)
        top = self.learning_rate if self.peak_learning_rate is None else self.peak_learning_rate
        rise = self.ramp_epochs * steps_per_epoch / (1 if attempt % 2 else 2)
        rate = self.learning_rate + (top - self.learning_rate) * min(min(step, fall) / rise, 1.0)
        return rate if step <= fall else rate * (last - step) / (last - fall)
