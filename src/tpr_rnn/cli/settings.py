"""`tpr-rnn settings`: every setting that `--set` can change, its default and its meaning."""

from dataclasses import MISSING, Field, fields
from typing import Annotated, Any, NamedTuple

from cyclopts import Parameter

from tpr_rnn.cli.options import JsonOption, print_json


class Setting(NamedTuple):
    """One setting; `value` is that of a preset, or the default where none was asked for."""

    part: str
    """`training`, or the architecture that has it."""
    name: str
    default: Any
    value: Any
    meaning: str


def settings(
    preset: Annotated[
        str | None, Parameter(help="Show its values and its architecture; absent: the defaults.")
    ] = None,
    *,
    json: JsonOption = False,
) -> int:
    """List every setting of models and training: its default and what it means."""
    from rich.table import Table

    from tpr_rnn.cli.console import Console
    from tpr_rnn.training.presets import PRESETS

    rows = all_settings(preset)
    if json:
        print_json({"preset": preset, "settings": [row._asdict() for row in rows]})
        return 0
    console = Console()
    for part in dict.fromkeys(row.part for row in rows):
        table = Table("setting", "default", title=part, title_justify="left")
        if preset is not None:
            table.add_column(preset)
        table.add_column("meaning", ratio=1)
        for row in rows:
            if row.part == part:
                values = [row.default] if preset is None else [row.default, row.value]
                table.add_row(row.name, *map(shown, values), row.meaning)
        console.print(table, soft_wrap=False)
    console.print("Change one with --set NAME=VALUE, as in: train --task 1 --set epochs=20")
    console.print(f"Presets: {', '.join(PRESETS)}")
    return 0


def all_settings(preset: str | None) -> list[Setting]:
    """The settings of training and of one kind of model, or of all kinds without a preset."""
    from tpr_rnn.models.registry import ARCHITECTURES
    from tpr_rnn.settings import meanings
    from tpr_rnn.training.preset import FROM_DATA, Preset
    from tpr_rnn.training.presets import preset as find_preset

    default = Preset()
    chosen = default if preset is None else find_preset(preset)
    about = meanings(Preset)["architecture"]
    rows = [
        Setting("training", "architecture", default.architecture, chosen.architecture, about),
        *_of_part("training", chosen.recipe),
    ]
    kinds = ARCHITECTURES if preset is None else [chosen.architecture]
    for name in kinds:
        model = Preset(architecture=name) if preset is None else chosen
        own = _of_part(f"architecture {name}", model.config())
        rows += [row for row in own if row.name not in FROM_DATA]
    return rows


def _of_part(part: str, values: Any) -> list[Setting]:
    """The fields of a dataclass as settings."""
    from tpr_rnn.settings import meanings

    explained = meanings(type(values))
    return [
        Setting(
            part, field.name, _default(field), getattr(values, field.name), explained[field.name]
        )
        for field in fields(values)
    ]


def _default(field: "Field[Any]") -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return None if field.default is MISSING else field.default


def shown(value: Any) -> str:
    """A value as `--set` takes it."""
    if isinstance(value, tuple):
        return ",".join(value)
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)
