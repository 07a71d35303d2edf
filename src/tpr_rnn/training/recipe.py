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
    focus: float = 0.0
    """Share of an epoch that goes to the tasks by their errors in the last one, so that what is
    not learned yet is practised most; the rest goes to all questions alike."""
    strangers: float = 0.0
    """Share of the batches in which every name (a word that questions write with a capital, though
    not at the start) is new to the model; it goes with the rate, up in the warm-up and down in the
    fall. With any, the vectors of names are not trained."""
    epochs: int = 150
    """Passes through the training questions, at most, before the rate falls; the paper does not
    say how many."""
    attempts: int = 1
    """Attempts in all: where the task is not learned, start anew from another seed. In every second
    one the rate rises twice as fast, for some tasks need it slow and some fast."""
    learned_below: float | None = None
    """The validation error, in %, below which a task counts as learned, and of several each one;
    None: it never does."""
    hopeful_below: float = 0.0
    """An attempt that has not learned the task after all epochs, but whose validation error (of
    several tasks: in the worst) is below this, is not given up yet: its rate falls, which may be
    all that it needs."""
    accepted_below: float | None = None
    """The validation error, in %, and of several tasks that of the worst, below which an attempt
    that has learned the task is accepted at its end, and a model preferred to any that is not;
    None: as `learned_below`."""
    learning_rate: float = 0.008
    """Rate after the warm-up."""
    top_rate: float | None = None
    """The rate rises to this while the task is not learned; None: it stays."""
    rise_epochs: int = 1
    """Epochs that the rise takes."""
    fall_epochs: int = 0
    """Passes after those, in which the rate falls to 0; they begin when the task is learned."""
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
    halve_below: float | None = 0.1
    """Halve the rate once, when the validation loss falls below this; None: never."""
    stop_after_perfect: int | None = None
    """End after so many evaluations in a row without a validation error; None: never early."""
    patience: int | None = None
    """End after so many evaluations in a row without a better model, and where a task has to be
    learned first, not before it is; None: never early."""
    story_cap: int = 70
    """Sentences before a question that are read."""
    story_cap_task_3: int = 130
    """The same in task 3, whose facts lie further back."""

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        counts = ("batch_size", "epochs", "attempts", "rise_epochs")
        for name in (*counts, "story_cap", "story_cap_task_3"):
            if not (isinstance(getattr(self, name), int) and getattr(self, name) >= 1):
                raise UserError(f"{name} must be 1 or more, not {getattr(self, name)}")
        for name in ("learning_rate", "epsilon", "clip_norm"):
            if not 0 < getattr(self, name) < math.inf:
                raise UserError(f"{name} must be over 0, not {getattr(self, name)}")
        for name in ("beta1", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise UserError(f"{name} must be at least 0 and under 1, not {getattr(self, name)}")
        for name in ("focus", "strangers"):
            if not 0 <= getattr(self, name) <= 1:
                raise UserError(f"{name} must be from 0 to 1, not {getattr(self, name)}")
        for name in ("warmup_steps", "fall_epochs"):
            if getattr(self, name) < 0:
                raise UserError(f"{name} must be 0 or more, not {getattr(self, name)}")
        if self.top_rate is not None and not self.learning_rate <= self.top_rate < math.inf:
            raise UserError(
                f"top_rate must be at least learning_rate ({self.learning_rate}), "
                f"not {self.top_rate}"
            )
        if self.attempts > 1 and self.learned_below is None:
            raise UserError("more attempts than one need learned_below, to know a failed one")
        for name in ("stop_after_perfect", "patience"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise UserError(f"{name} must be 1 or more, or none, not {number}")

    @property
    def cap(self) -> StoryCap:
        """How many sentences of a story are read."""
        return StoryCap(usual=self.story_cap, task_3=self.story_cap_task_3)

    def fall_step(self, steps_per_epoch: int, learned_at: int | None = None) -> int:
        """From when on the rate falls: when the task is learned, at the latest after all epochs."""
        end = self.epochs * steps_per_epoch
        return end if learned_at is None else min(end, learned_at)

    def last_step(self, steps_per_epoch: int, learned_at: int | None = None) -> int:
        """When an attempt ends that is not given up."""
        return self.fall_step(steps_per_epoch, learned_at) + self.fall_epochs * steps_per_epoch

    def rate(
        self, step: int, steps_per_epoch: int, learned_at: int | None = None, attempt: int = 1
    ) -> float:
        """The rate of a step, before any halving; steps count from 0 in every attempt.

        A tenth in the warm-up; then it rises to its top; in the end it falls to 0.
        """
        if step < self.warmup_steps:
            return self.learning_rate / 10
        fall = self.fall_step(steps_per_epoch, learned_at)
        last = self.last_step(steps_per_epoch, learned_at)
        top = self.learning_rate if self.top_rate is None else self.top_rate
        rise = self.rise_epochs * steps_per_epoch / (1 if attempt % 2 else 2)
        rate = self.learning_rate + (top - self.learning_rate) * min(min(step, fall) / rise, 1.0)
        return rate if step <= fall else rate * (last - step) / (last - fall)
