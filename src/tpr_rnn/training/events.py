"""What happens in training, as it is told to whoever watches."""

from dataclasses import dataclass

from tpr_rnn.evaluation.scoring import Scores


@dataclass(frozen=True)
class Stepped:
    """A training step was made."""

    step: int
    loss: float


@dataclass(frozen=True)
class Evaluated:
    """The model was scored on the validation questions."""

    step: int
    epoch: int
    rate: float
    train_loss: float
    """Mean since the last evaluation."""
    valid: Scores
    best: bool
    """Whether this is the best so far: no task left behind, then least error, then least loss."""


@dataclass(frozen=True)
class Restarted:
    """The model starts anew from another seed, and why."""

    step: int
    seed: int
    reason: str


@dataclass(frozen=True)
class RateHalved:
    """The validation loss has fallen below the recipe's mark."""

    step: int


@dataclass(frozen=True)
class Stopped:
    """Training ended before its last step, and why."""

    step: int
    reason: str


Event = Stepped | Evaluated | Restarted | RateHalved | Stopped
