"""How far a training run has come: all that a resume needs beside its tensors."""

from dataclasses import dataclass, field

DIVERGED = "the loss became"
"""How the reason begins, if a run ends because its loss is no longer a number."""


@dataclass
class Progress:
    """What has happened so far; with the tensors of `Trainer.tensors`, all that a resume needs."""

    step: int = 0
    seeds: list[int] = field(default_factory=list)
    """The seeds of the initialisations; more than one if some failed."""
    attempt: int = 1
    begun: int = 0
    """The step at which the present attempt began."""
    decay_from: int | None = None
    """The step at which the task was learned, or nearly so, in the present attempt."""
    evaluated: int = 0
    """The step of the last evaluation."""
    asked: dict[str, int] = field(default_factory=dict)
    """Training questions since the last evaluation, by task."""
    missed: dict[str, int] = field(default_factory=dict)
    """Those of them that were answered wrongly."""
    errors: dict[str, float] = field(default_factory=dict)
    """Wrong answers in percent, by task, in training before the last evaluation of the attempt."""
    halved_at: int | None = None
    perfect: int = 0
    """Evaluations in a row without an error."""
    best_step: int | None = None
    best: tuple[float, float] = (101.0, 0.0)
    """Validation error and loss of the best model so far."""
    worst: float = 101.0
    """Its validation error in its worst task."""
    attempt_best: tuple[float, float] = (101.0, 0.0)
    """The least validation error and loss of the present attempt."""
    better_at: int = 0
    """The step at which the present attempt came to these."""
    loss_sum: float = 0.0
    """Training losses since the last evaluation."""
    stopped: str | None = None
