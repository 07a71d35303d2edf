"""Options that several commands share."""

import hashlib
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from tpr_rnn.errors import UserError, quoted

if TYPE_CHECKING:
    from tpr_rnn.cli.console import Console
    from tpr_rnn.models.reader import Reader

WRONG_INPUT = 2
"""Exit status where the user's input is wrong."""
INTERRUPTED = 130
"""Exit status after Ctrl-C."""
BROKEN_PIPE = 141
"""Exit status where the output was closed, as in `tpr-rnn settings | head -1`."""

RunArgument = Annotated[
    Path | None,
    Parameter(help="Run directory, as `tpr-rnn train` makes it; absent: the bundled model."),
]
RunDataOption = Annotated[
    Path | None,
    Parameter(help="Directory of stories; if absent, the directory that the run was trained on."),
]
DataOption = Annotated[
    Path | None,
    Parameter(
        help="Directory of stories: bAbI's in any official layout, or your own as NAME_train.txt. "
        "If absent, the directory in the environment variable TPR_RNN_DATA, else generated stories."
    ),
]
SettingsOption = Annotated[
    tuple[str, ...],
    Parameter(
        name="--set",
        negative="",
        help="Change one setting, such as learning_rate=0.002; can be repeated.",
    ),
]
JsonOption = Annotated[
    bool,
    Parameter(
        name="--json",
        negative="",
        help="One JSON document on standard output, all else on standard error.",
    ),
]


def parse_settings(given: Iterable[str]) -> dict[str, str]:
    """The settings of `--set`, by name."""
    changes: dict[str, str] = {}
    for setting in given:
        name, equals, value = setting.partition("=")
        if not equals:
            raise UserError(
                f"--set takes NAME=VALUE, such as learning_rate=0.002, not {quoted(setting)}"
            )
        if name in changes:
            raise UserError(f"{name} is set twice: to {changes[name]} and to {value}")
        changes[name] = value
    return changes


_LONGEST_LABEL = 80


def label(changes: Mapping[str, str]) -> str:
    """What `--set` changes, as part of a directory's name: short, and safe on any file system."""
    parts = sorted(f"-{name}={value}" for name, value in changes.items())
    text = re.sub(r"[^\w.=+-]", "_", "".join(parts).replace(",", "+"), flags=re.ASCII)
    if len(text) <= _LONGEST_LABEL:
        return text
    digest = hashlib.sha256("".join(parts).encode()).hexdigest()[:8]
    return f"{text[: _LONGEST_LABEL - 9]}-{digest}"


def run_directory(given: Path | None) -> Path:
    """The given run, also where one of its files is given; without one, the bundled model."""
    from tpr_rnn.pretrained import pretrained_run

    if given is None:
        return pretrained_run()
    if given.is_file() and not (given.parent / "model.safetensors").exists():
        raise UserError(
            f"{given}: not a file of a run; expected a run directory (a story goes with --story)"
        )
    return given.parent if given.is_file() else given


def load_reader(run: Path) -> "Reader":
    """The model of a run directory; a broken config.json beside it is noticed first."""
    from tpr_rnn.models.reader import Reader
    from tpr_rnn.training.run_config import RunConfig

    if (run / "config.json").exists():
        RunConfig.of(run)
    return Reader.load(run)


def data_directory(given: Path | None) -> Path | None:
    """The given directory, else that of the environment; None: generated stories."""
    if given is not None:
        return given
    from_environment = os.environ.get("TPR_RNN_DATA")
    return Path(from_environment) if from_environment else None


def data_of_run(given: Path | None, run: Path, console: "Console") -> Path | None:
    """The directory to score or analyse a run on; without `--data` its own. None: generated."""
    from tpr_rnn.training.run_config import RunConfig

    own = RunConfig.of(run).data
    if given is not None or own is None:
        return given
    # The bundled model knows only the name of its data, not a place on this machine.
    if not Path(own).is_absolute():
        return data_directory(None)
    if not Path(own).is_dir():
        raise UserError(
            f"{run} was trained on {own}, which does not exist here; "
            "give --data with the directory where its stories are now"
        )
    console.print(f"No --data is given: using {own}, which {run} was trained on.")
    return Path(own)


def print_json(document: dict[str, Any]) -> None:
    """Print the JSON document of `--json`."""
    print(json.dumps(document, indent=2, ensure_ascii=False))


def command() -> str:
    """How to call this program: by its name, or by its path where the name is not found."""
    if shutil.which("tpr-rnn"):
        return "tpr-rnn"
    script = Path(sys.executable).parent / "tpr-rnn"
    if script.is_relative_to(Path.cwd()):
        script = script.relative_to(Path.cwd())
    return str(script)


def resume_command(run: Path) -> str:
    """What goes on with a run, or begins one that was planned."""
    return f"{command()} train --out {shlex.quote(str(run))} --resume"
