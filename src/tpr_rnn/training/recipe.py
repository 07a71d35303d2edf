"""How a training run goes, as data: a frozen recipe."""

import math
from dataclasses import dataclass

from tpr_rnn.errors import UserError
from tpr_rnn.training.optimizers import OPTIMIZERS


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How to train; the defaults are the paper's single-task recipe (appendix A)."""

    batch_size: int = 128
    """Questions in a batch."""
    batch_stories: int | None = None
    """Stories in a batch, each with all its questions; `batch_size` then says about how many those
    are, for whoever counts questions. None: batches are counted in questions."""
    bucket_batches: int | None = None
    """Bucketing: the stories of so many batches are sorted by their words before they are cut into
    batches, so that a batch holds whole stories of similar length. For models that pad; None:
    batches of any lengths, exactly `batch_size` questions each."""
    sum_loss: bool = False
    """Follow the gradient of the sum over the questions of a batch, not that of their mean: the
    learning rate, clipping and weight decay of a published recipe may count on it."""
    error_weighted_share: float = 0.0
    """Share of an epoch that goes to the tasks by their errors in the last one, so that what is
    not learned yet is practised most; the rest goes to all questions alike."""
    random_name_share: float = 0.0
    """Share of the batches in which every name (a word that questions write with a capital, though
    not at the start) is new to the model; less in the warm-up, and ever less as the learning rate
    decays. With any, the vectors of names are not trained."""
    rename_share: float = 0.0
    """Share of the batches in which interchangeable words of the data set (names, places, things)
    change places, in stories, questions and answers alike; ever less as the learning rate
    decays."""
    regularize_in_decay: bool = False
    """No dropout and no random names until the learning rate decays: they keep some tasks on their
    plateaus, and are needed only after them. False: both from the start."""
    epochs: int = 150
    """Passes through the training questions in an attempt, at most; the paper does not say how
    many."""
    attempts: int = 1
    """Attempts in all: where the task is not learned, start anew from another seed. In every second
    one the learning rate rises twice as fast, for some tasks need it slow and some fast."""
    start_decay_below: float | None = None
    """The validation error, in %, below which the task counts as learned and the learning rate
    starts to decay; of several tasks the worst counts. None: it decays only in the last epochs."""
    decay_anyway_below: float = 0.0
    """An attempt that has not learned the task when the last moment for the decay has come, but
    whose validation error (of several tasks: in the worst) is below this, is not given up yet: its
    learning rate decays, which may be all that it needs."""
    accept_below: float | None = None
    """The validation error, in %, and of several tasks that of the worst, below which an attempt
    that has learned the task is accepted at its end, and a model preferred to any that is not;
    None: as `start_decay_below`."""
    linear_start_epochs: int = 0
    """First epochs without the softmax in the memory, for models that can do so (MemN2N)."""
    learning_rate: float = 0.008
    """Learning rate after the warm-up."""
    peak_learning_rate: float | None = None
    """The learning rate rises to this while the task is not learned; None: it stays."""
    ramp_epochs: int = 1
    """Epochs that the rise takes."""
    decay_epochs: int = 0
    """The last of the epochs, in which the learning rate decays to 0; they begin earlier where the
    task is learned earlier."""
    optimizer: str = "nadam"
    """nadam (TensorFlow's, as in the paper), adam, rmsprop or sgd."""
    beta1: float = 0.6
    """Decay of the mean of the gradient (nadam, adam)."""
    beta2: float = 0.4
    """Decay of the mean of its square (nadam, adam, rmsprop)."""
    epsilon: float = 1e-8
    """Guard against division by zero (nadam, adam, rmsprop)."""
    momentum: float = 0.0
    """Momentum (rmsprop, sgd)."""
    weight_decay: float = 0.0
    """So many times each weight is added to its gradient, after clipping (an L2 penalty)."""
    clip_value: float | None = None
    """Largest entry of the gradient, either way; None: any."""
    clip_norm: float | None = 5.0
    """Largest global norm of the gradient; None: any. The paper is silent, its released code has
    5."""
    clip_norm_each: float | None = None
    """Largest norm of the gradient of each parameter by itself; None: any."""
    warmup_steps: int = 50
    """First steps, at a tenth of the learning rate; a NaN in them starts anew with another seed."""
    halve_lr_below_loss: float | None = 0.1
    """Halve the learning rate once, when the validation loss falls below this; None: never."""
    halve_lr_every: int | None = None
    """Halve the learning rate every so many epochs, counted from the end of the linear start;
    None: never."""
    stop_after_zero_error: int | None = None
    """End after so many evaluations in a row without a validation error; None: never early."""
    patience: int | None = None
    """End after so many evaluations in a row without a better model; with `start_decay_below` they
    count from the start of the decay. None: never early."""
    minutes: float | None = None
    """End after so many minutes on the clock, wherever training is; None: no limit."""
    valid_stories: int | None = None
    """Stories of each task whose questions serve for validation, the first ones; None: all."""
    max_sentences: int | None = None
    """Sentences before a question that are read, the last ones, in every task; None: as many as
    the data set says for the task (of your own files all)."""

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        counts = ("batch_size", "epochs", "attempts", "ramp_epochs")
        for name in counts:
            if not (isinstance(getattr(self, name), int) and getattr(self, name) >= 1):
                raise UserError(f"{name} must be 1 or more, not {getattr(self, name)}")
        for name in (
            "learning_rate",
            "epsilon",
            "clip_value",
            "clip_norm",
            "clip_norm_each",
            "minutes",
        ):
            number = getattr(self, name)
            if number is not None and not 0 < number < math.inf:
                raise UserError(f"{name} must be over 0, not {number}")
        self._check_optimizer()
        for name in ("beta1", "beta2", "momentum"):
            if not 0 <= getattr(self, name) < 1:
                raise UserError(f"{name} must be at least 0 and under 1, not {getattr(self, name)}")
        for name in ("error_weighted_share", "random_name_share", "rename_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise UserError(f"{name} must be from 0 to 1, not {getattr(self, name)}")
        for name in ("linear_start_epochs", "warmup_steps", "decay_epochs", "weight_decay"):
            if not 0 <= getattr(self, name) < math.inf:
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
        optional = ("batch_stories", "bucket_batches", "halve_lr_every", "stop_after_zero_error")
        for name in (*optional, "patience", "valid_stories", "max_sentences"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise UserError(f"{name} must be 1 or more, or none, not {number}")
        for name in ("bucket_batches", "error_weighted_share"):
            if self.batch_stories and getattr(self, name):
                raise UserError(f"batch_stories and {name} exclude each other; leave one out")

    def _check_optimizer(self) -> None:
        if self.optimizer not in OPTIMIZERS:
            raise UserError(
                f"unknown optimizer '{self.optimizer}'; there are {', '.join(OPTIMIZERS)}"
            )
        if self.momentum and "momentum" not in OPTIMIZERS[self.optimizer].settings:
            raise UserError(f"momentum is for rmsprop and sgd; {self.optimizer} has beta1 for it")
        if self.weight_decay and self.random_name_share:
            raise UserError(
                "weight_decay would change the vectors of names, which random_name_share keeps as "
                "they are; leave one of the two out"
            )
