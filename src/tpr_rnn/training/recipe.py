"""What a training run does, as data: a frozen recipe, and presets by name."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, get_args, get_type_hints

from tpr_rnn.data.encoding import StoryCap
from tpr_rnn.data.systematic import PLANS
from tpr_rnn.errors import UserError
from tpr_rnn.models.model import ModelConfig
from tpr_rnn.models.registry import TPR_RNN, find_architecture


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How to train; the defaults are the paper's single-task recipe (appendix A)."""

    batch_size: int = 128
    """Questions in a batch."""
    focus: float = 0.0
    """Share of an epoch that goes to the tasks by their errors in the last one, so that what is
    not learned yet is practised most; the rest goes to all questions alike."""
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
        if not 0 <= self.focus <= 1:
            raise UserError(f"focus must be from 0 to 1, not {self.focus}")
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


FROM_DATA = ("vocabulary_size", "words")
"""Settings of the model that come from the data, not from a preset."""


@dataclass(frozen=True, kw_only=True)
class Preset:
    """Settings of model and training that go together."""

    architecture: str = TPR_RNN
    """The kind of model, by its name in the registry."""
    model: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the model that differ from its defaults (a TPR-RNN's are the paper's)."""
    recipe: Recipe = field(default_factory=Recipe)

    def __post_init__(self) -> None:
        """Refuse settings of the model that make no sense, before any data is read."""
        self.config()

    def config(self, *, vocabulary_size: int = 1, words: int = 1) -> ModelConfig:
        """The model's configuration for data of these sizes; for any, where they do not matter."""
        sizes = {"vocabulary_size": vocabulary_size, "words": words}
        return find_architecture(self.architecture).config.from_json({**self.model, **sizes})

    def with_settings(self, changes: Mapping[str, str]) -> "Preset":
        """The same with some settings changed, given as text; unknown names are errors.

        Settings of a model belong to its kind: another architecture starts from its own defaults.
        """
        architecture = changes.get("architecture", self.architecture)
        model_kinds = get_type_hints(find_architecture(architecture).config)
        for name in FROM_DATA:
            del model_kinds[name]
        recipe_kinds = get_type_hints(Recipe)
        model = dict(self.model) if architecture == self.architecture else {}
        recipe = {}
        for name, text in changes.items():
            if name == "architecture":
                continue
            if name in model_kinds:
                model[name] = _parse(name, text, model_kinds[name])
            elif name in recipe_kinds:
                recipe[name] = _parse(name, text, recipe_kinds[name])
            else:
                known = ["architecture", *model_kinds, *recipe_kinds]
                near = get_close_matches(name, known, n=1)
                hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
                raise UserError(f"unknown setting '{name}'; {hint}")
        return Preset(architecture=architecture, model=model, recipe=replace(self.recipe, **recipe))

    def as_json(self) -> dict[str, Any]:
        """The settings as JSON values."""
        return {
            "architecture": self.architecture,
            "model": dict(self.model),
            "recipe": asdict(self.recipe),
        }

    @staticmethod
    def from_json(settings: Mapping[str, Any]) -> "Preset":
        """Read `as_json` back; unknown names are errors."""
        unknown = set(settings["recipe"]) - {known.name for known in fields(Recipe)}
        if unknown:
            raise UserError(f"unknown settings in a recipe: {', '.join(sorted(unknown))}")
        return Preset(
            architecture=settings.get("architecture", TPR_RNN),
            model=dict(settings["model"]),
            recipe=Recipe(**settings["recipe"]),
        )


def _parse(name: str, text: str, kind: Any) -> Any:
    kinds = get_args(kind) or (kind,)
    if type(None) in kinds and text.lower() == "none":
        return None
    if str in kinds:  # the only setting of several words: the operations
        return [part.strip() for part in text.split(",")]
    if bool in kinds:
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        raise UserError(f"{name} is true or false, not '{text}'")
    number = int if int in kinds else float
    try:
        return number(text)
    except ValueError:
        expected = "a whole number" if number is int else "a number"
        raise UserError(f"{name} is {expected}, not '{text}'") from None


# What our recipes have in common: NAdam's usual memory, and a rate that falls by itself.
_OURS = Recipe(beta1=0.9, beta2=0.999, halve_below=None)

PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        # Appendix A, "The Single-Task Model".
        "paper-single": Preset(),
        # Appendix A, "The All-Tasks Model"; 45 epochs are the 250,000 steps of Figure 3.
        "paper-all": Preset(
            model={"hidden_size": 90, "entity_size": 40, "relation_size": 20},
            recipe=Recipe(batch_size=32, learning_rate=0.001, beta1=0.9, beta2=0.999, epochs=45),
        ),
        # Ours for one task; results/LOG.md says what each setting is for.
        "single": Preset(
            model={"bounded_keys": True, "embedding_scale": 0.1, "symbol_dropout": 0.05},
            recipe=replace(
                _OURS,
                batch_size=512,
                epochs=400,
                attempts=8,
                learned_below=5.0,
                hopeful_below=20.0,
                accepted_below=2.0,
                learning_rate=0.003,
                top_rate=0.015,
                rise_epochs=400,
                fall_epochs=160,
                stop_after_perfect=10,
            ),
        ),
        # Ours for all tasks together: the paper's sizes; results/LOG.md says what the rest is for.
        "all": Preset(
            model={
                "hidden_size": 90,
                "entity_size": 40,
                "relation_size": 20,
                "bounded_keys": True,
                "linear_keys": True,
                "embedding_scale": 0.1,
                "symbol_dropout": 0.1,
            },
            recipe=replace(
                _OURS,
                batch_size=512,
                focus=0.7,
                epochs=60,
                attempts=4,
                learned_below=30.0,
                accepted_below=2.0,
                fall_epochs=60,
                learning_rate=0.003,
                patience=15,
            ),
        ),
        # Ours for the joined tasks with new names: sizes between those of one task and of all.
        "systematic": Preset(
            model={
                "hidden_size": 60,
                "entity_size": 20,
                "relation_size": 15,
                "bounded_keys": True,
                "linear_keys": True,
                "embedding_scale": 0.1,
                "symbol_dropout": 0.1,
            },
            recipe=replace(_OURS, batch_size=512, epochs=20, fall_epochs=20, learning_rate=0.006),
        ),
        # A plain reader to compare with.
        "lstm": Preset(
            architecture="lstm",
            model={"hidden_dropout": 0.2},
            recipe=replace(_OURS, batch_size=64, epochs=12, fall_epochs=12, learning_rate=0.002),
        ),
    }
)

DEFAULT = "default"
"""The name for whichever preset of ours for a TPR-RNN fits the task."""


def preset_name(name: str, task: str) -> str:
    """The name in `PRESETS` that a name given for a task stands for."""
    if name == DEFAULT:
        if task in PLANS:
            return "systematic"
        return "all" if task == "all" else "single"
    return name


def preset(name: str) -> Preset:
    """The preset of that name."""
    if name not in PRESETS:
        raise UserError(
            f"unknown preset '{name}'; there are {', '.join(PRESETS)}, and {DEFAULT} for single, "
            "all or systematic, whichever fits the task"
        )
    return PRESETS[name]
