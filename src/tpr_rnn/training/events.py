"""What happens in training, for whoever watches."""

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
    """Epochs so far, over all attempts."""
    learning_rate: float
    train_loss: float
    """Mean since the last evaluation."""
    valid: Scores
    best: bool
    """Whether it is the best model so far (`AttemptPolicy.is_best`)."""


@dataclass(frozen=True)
class Restarted:
    """The model starts anew from another seed, and why."""

    step: int
    seed: int
    reason: str


@dataclass(frozen=True)
class LearningRateHalved:
    """The validation loss has fallen below `halve_lr_below_loss`."""

    step: int


@dataclass(frozen=True)
class Stopped:
    """Training ended before its last step, and why."""

    step: int
    reason: str


Event = Stepped | Evaluated | Restarted | LearningRateHalved | Stopped
