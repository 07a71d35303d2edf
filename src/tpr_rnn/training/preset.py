"""Settings of model and training that go together."""

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from difflib import get_close_matches
from typing import Any, get_args, get_type_hints

from tpr_rnn.errors import UserError, quoted
from tpr_rnn.evaluation.record import RunRecord
from tpr_rnn.models.model import ModelConfig
from tpr_rnn.models.registry import ARCHITECTURES, TPR_RNN, find_architecture
from tpr_rnn.settings import check_settings
from tpr_rnn.training.recipe import Recipe

FROM_DATA = ("vocabulary_size", "max_words")
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

    def config(self, *, vocabulary_size: int = 1, max_words: int = 1) -> ModelConfig:
        """The model's configuration for data of these sizes; for any, where they do not matter."""
        sizes = {"vocabulary_size": vocabulary_size, "max_words": max_words}
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
                raise UserError(_unknown(name, architecture, known))
        return Preset(architecture=architecture, model=model, recipe=replace(self.recipe, **recipe))

    def all_settings(self) -> dict[str, Any]:
        """Every setting of model and training by name, but for what comes from the data."""
        model = asdict(self.config())
        own = {name: value for name, value in model.items() if name not in FROM_DATA}
        return {"architecture": self.architecture, **own, **asdict(self.recipe)}

    def as_json(self) -> dict[str, Any]:
        """The settings as JSON values."""
        return {
            "architecture": self.architecture,
            "model": dict(self.model),
            "recipe": asdict(self.recipe),
        }

    @staticmethod
    def of_record(record: RunRecord) -> "Preset":
        """The settings of a run; one that is older than a setting had its default."""
        model = {
            name: value for name, value in record.settings.model.items() if name not in FROM_DATA
        }
        return Preset.from_json(
            {
                "architecture": record.architecture,
                "model": model,
                "recipe": record.settings.recipe,
            }
        )

    @staticmethod
    def from_json(settings: Mapping[str, Any]) -> "Preset":
        """Read `as_json` back; unknown names are errors."""
        recipe = _with_one_cap(settings["recipe"])
        check_settings(Recipe, recipe, "a recipe")
        return Preset(
            architecture=settings.get("architecture", TPR_RNN),
            model=dict(settings["model"]),
            recipe=Recipe(**recipe),
        )


def _with_one_cap(recipe: Any) -> Any:
    """The settings of a recipe that may be from when one of bAbI's tasks had a cap of its own."""
    if not isinstance(recipe, Mapping) or "story_cap_task_3" not in recipe:
        return recipe
    others = {name: value for name, value in recipe.items() if name != "story_cap_task_3"}
    caps = (recipe.get("max_sentences", 70), recipe["story_cap_task_3"])
    if caps == (70, 130):  # those of the data set
        return others | {"max_sentences": None}
    if caps[0] == caps[1]:
        return others
    raise UserError(
        f"max_sentences {caps[0]} with story_cap_task_3 {caps[1]}: there is one setting now, "
        "max_sentences, which holds for every task"
    )


def _unknown(name: str, architecture: str, known: list[str]) -> str:
    """What to say of a setting that an architecture does not have."""
    others = [other for other, kind in ARCHITECTURES.items() if name in get_type_hints(kind.config)]
    if others and name not in FROM_DATA:
        whose = ARCHITECTURES[architecture].title
        return f"{name} is no setting of the {whose}; it is one of {', '.join(others)}"
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
    return f"unknown setting {quoted(name)}; {hint}"


def _parse(name: str, text: str, kind: Any) -> Any:
    kinds = get_args(kind) or (kind,)
    if type(None) in kinds and text.lower() == "none":
        return None
    if kind is str:
        return text
    if str in kinds:  # the only setting of several words: the operations
        return [part.strip() for part in text.split(",")]
    if bool in kinds:
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        raise UserError(f"{name} is true or false, not {quoted(text)}")
    number = int if int in kinds else float
    try:
        value = number(text)
    except ValueError:
        expected = "a whole number" if number is int else "a number"
        raise UserError(f"{name} is {expected}, not {quoted(text)}") from None
    if not abs(value) <= sys.float_info.max:
        raise UserError(f"{name} must be a finite number, at most 1e308, not {quoted(text)}")
    return value
