"""Options that several commands share."""

import json
import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from tpr_rnn.errors import UserError

INTERRUPTED = 130
"""Exit status after Ctrl-C."""

RunArgument = Annotated[
    Path | None,
    Parameter(
        help="Run directory, as `tpr-rnn train` makes it; absent: the model that ships with the "
        "package."
    ),
]
DataOption = Annotated[
    Path | None,
    Parameter(
        help="Directory of bAbI files, in any official layout. Absent: that of the environment "
        "variable TPR_RNN_DATA, else generated stories."
    ),
]
SettingsOption = Annotated[
    tuple[str, ...],
    Parameter(
        name="--set",
        negative="",
        help="Change one setting, such as learning_rate=0.002; may be given again.",
    ),
]
FillGapsOption = Annotated[
    bool,
    Parameter(
        negative="", help="Train on generated stories where a task lacks its training file alone."
    ),
]
JsonOption = Annotated[
    bool,
    Parameter(
        name="--json", negative="", help="One JSON document on standard output, the rest elsewhere."
    ),
]


def parse_settings(given: Iterable[str]) -> dict[str, str]:
    """The settings of `--set`, by name."""
    changes: dict[str, str] = {}
    for setting in given:
        name, equals, value = setting.partition("=")
        if not equals:
            raise UserError(f"--set takes NAME=VALUE, such as learning_rate=0.002, not '{setting}'")
        if name in changes:
            raise UserError(f"{name} is set twice, to {changes[name]} and to {value}")
        changes[name] = value
    return changes


def run_directory(given: Path | None) -> Path:
    """The run that was asked for, also by one of its files, or the one that ships."""
    from tpr_rnn.pretrained import pretrained_run

    if given is None:
        return pretrained_run()
    if given.is_file() and not (given.parent / "model.safetensors").exists():
        raise UserError(
            f"{given}: not a file of a run; expected a run directory (a story goes with --story)"
        )
    return given.parent if given.is_file() else given


def data_directory(given: Path | None) -> Path | None:
    """The directory that was asked for, or None for generated stories."""
    if given is not None:
        return given
    from_environment = os.environ.get("TPR_RNN_DATA")
    return Path(from_environment) if from_environment else None


def print_json(document: dict[str, Any]) -> None:
    """The one document that `--json` promises on standard output."""
    print(json.dumps(document, indent=2, ensure_ascii=False))


def command() -> str:
    """What to type for this program: its name, or its path where the name would not be found."""
    if shutil.which("tpr-rnn"):
        return "tpr-rnn"
    script = Path(sys.executable).parent / "tpr-rnn"
    if script.is_relative_to(Path.cwd()):
        script = script.relative_to(Path.cwd())
    return str(script)
