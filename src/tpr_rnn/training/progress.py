"""How far a training run has come: all that a resume needs beside its tensors."""

from typing import Annotated

from msgspec import Meta, Struct, field

from tpr_rnn.evaluation.record import Count

DIVERGED = "the loss became"
"""How the reason begins, if a run ends because its loss is no longer a number."""


Number = Annotated[int, Meta(ge=1, le=2**62)]


class Progress(Struct, kw_only=True, forbid_unknown_fields=True):
    """What has happened so far; with the tensors of `Trainer.tensors`, all that a resume needs."""

    step: Count = 0
    """Training steps made, over all attempts."""
    seeds: list[Count] = field(default_factory=list)
    """The seeds of the initialisations; more than one if some failed."""
    attempt: Number = 1
    """The present attempt, counted from 1."""
    attempt_start: Count = 0
    """The step at which the present attempt started."""
    decay_start: Count | None = None
    """The step at which the present attempt was good enough for the learning rate to decay."""
    lr_halved_at: Count | None = None
    """The step at which the learning rate was halved."""
    last_evaluation: Count = 0
    """The step of the last evaluation."""
    loss_sum: float = 0.0
    """Training losses since the last evaluation."""
    train_asked: dict[str, Count] = field(default_factory=dict)
    """Training questions since the last evaluation, by task."""
    train_wrong: dict[str, Count] = field(default_factory=dict)
    """Those of them that were answered wrongly."""
    train_errors: dict[str, float] = field(default_factory=dict)
    """Wrong answers in percent, by task, in training before the last evaluation of the attempt."""
    zero_error_evaluations: Count = 0
    """Evaluations in a row without an error."""
    best_step: Count | None = None
    """The step of the best model so far."""
    best: tuple[float, float] = (101.0, 0.0)
    """Its validation error and loss."""
    best_worst_task: float = 101.0
    """Its validation error in its worst task."""
    attempt_best: tuple[float, float] = (101.0, 0.0)
    """The least validation error and loss of the present attempt."""
    last_improvement: Count = 0
    """The step at which the present attempt came to these."""
    stopped: str | None = None
    """Why training ended before its last step, if it did."""

    @property
    def attempt_step(self) -> int:
        """Steps of the present attempt."""
        return self.step - self.attempt_start

    @property
    def attempt_decay_start(self) -> int | None:
        """Steps of the present attempt after which its decay was started, if it was."""
        return None if self.decay_start is None else self.decay_start - self.attempt_start
