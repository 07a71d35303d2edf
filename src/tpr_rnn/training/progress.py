"""How far a training run has come: all that a resume needs beside its tensors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tpr_rnn.errors import UserError
from tpr_rnn.settings import check_settings

DIVERGED = "the loss became"
"""How the reason begins, if a run ends because its loss is no longer a number."""


@dataclass(kw_only=True)
class Progress:
    """What has happened so far; with the tensors of `Trainer.tensors`, all that a resume needs."""

    step: int = 0
    """Training steps made, over all attempts."""
    seeds: list[int] = field(default_factory=list)
    """The seeds of the initialisations; more than one if some failed."""
    attempt: int = 1
    """The present attempt, counted from 1."""
    attempt_start: int = 0
    """The step at which the present attempt started."""
    decay_start: int | None = None
    """The step at which the present attempt was good enough for the learning rate to decay."""
    lr_halved_at: int | None = None
    """The step at which the learning rate was halved."""
    last_evaluation: int = 0
    """The step of the last evaluation."""
    loss_sum: float = 0.0
    """Training losses since the last evaluation."""
    train_asked: dict[str, int] = field(default_factory=dict)
    """Training questions since the last evaluation, by task."""
    train_wrong: dict[str, int] = field(default_factory=dict)
    """Those of them that were answered wrongly."""
    train_errors: dict[str, float] = field(default_factory=dict)
    """Wrong answers in percent, by task, in training before the last evaluation of the attempt."""
    zero_error_evaluations: int = 0
    """Evaluations in a row without an error."""
    best_step: int | None = None
    """The step of the best model so far."""
    best: tuple[float, float] = (101.0, 0.0)
    """Its validation error and loss."""
    best_worst_task: float = 101.0
    """Its validation error in its worst task."""
    attempt_best: tuple[float, float] = (101.0, 0.0)
    """The least validation error and loss of the present attempt."""
    last_improvement: int = 0
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

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> "Progress":
        """Read `asdict` back from JSON, where tuples are lists; what does not fit is an error."""
        check_settings(Progress, values, "a checkpoint")
        if missing := set(Progress.__dataclass_fields__) - set(values):
            raise UserError(f"a checkpoint has no {', '.join(sorted(missing))}")
        pairs = {name: tuple(values[name]) for name in ("best", "attempt_best")}
        return Progress(**{**values, **pairs})
