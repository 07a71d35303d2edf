"""Is a run the one that is asked for? Every setting counts, those left at their defaults too."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

from tpr_rnn.models.registry import TPR_RNN
from tpr_rnn.training.presets import FROM_DATA, Preset


class Difference(NamedTuple):
    """A setting that differs."""

    name: str
    wanted: Any
    there: Any


def all_settings(preset: Preset) -> dict[str, Any]:
    """Every setting of model and training by name, but for what comes from the data."""
    model = asdict(preset.config())
    own = {name: value for name, value in model.items() if name not in FROM_DATA}
    return {"architecture": preset.architecture, **own, **asdict(preset.recipe)}


def settings_of_result(result: Mapping[str, Any]) -> dict[str, Any]:
    """The same from the record of a run; one that is older than a setting had its default."""
    model = {name: value for name, value in result["model"].items() if name not in FROM_DATA}
    architecture = result.get("architecture", TPR_RNN)
    return all_settings(
        Preset.from_json({"architecture": architecture, "model": model, "recipe": result["recipe"]})
    )


def first_difference(wanted: Mapping[str, Any], there: Mapping[str, Any]) -> Difference | None:
    """The first setting that is wanted otherwise than it is."""
    for name, value in wanted.items():
        if there.get(name) != value:
            return Difference(name, value, there.get(name))
    return None


def setting_value(value: Any) -> str:
    """As it is given on the command line."""
    return str(value).lower() if value is None or isinstance(value, bool) else f"{value}"
