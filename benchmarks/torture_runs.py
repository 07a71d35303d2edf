"""The runs that are tortured, and what they come to when nobody does."""

import contextlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import structs

from experiments.tiny import write_data
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.record import read_record
from tpr_rnn.files import read_tensors
from tpr_rnn.training import run as run_module
from tpr_rnn.training.presets import preset
from tpr_rnn.training.run import Run
from tpr_rnn.training.run_config import RunConfig
from tpr_rnn.training.run_directory import RunDirectory

ONE = {"attempts": "1", "decay_epochs": "0", "start_decay_below": "none"}
WHOLE = {"stop_after_zero_error": "none"}
KINDS = {
    "one task": ("1", "single", ONE | WHOLE | {"epochs": "150"}),
    "all tasks": ("all", "all", ONE | WHOLE | {"epochs": "60"}),
    "several attempts": (
        "1",
        "single",
        WHOLE | {"attempts": "3", "start_decay_below": "1e-9", "decay_anyway_below": "0"}
        | {"epochs": "60", "decay_epochs": "10"},
    ),
    "word by word": ("1", "word-single", ONE | WHOLE | {"epochs": "60"}),
}  # fmt: skip
"""By name: task, preset and settings; each takes some seconds."""
OFTEN = 0.05
"""Seconds between checkpoints here, so that many a kill comes while one is written."""


@dataclass
class Result:
    """What came of a kind of trial."""

    trial: str
    tried: int = 0
    survived: int = 0
    wrong: list[str] = field(default_factory=list)
    remark: str = ""

    def row(self) -> str:
        """As a row of the table."""
        counts = f"{self.tried} | {self.survived} | {len(self.wrong)}"
        return f"| {self.trial} | {counts} | {self.remark} |"

    def judge(self, problem: str | None, tried: int = 1) -> None:
        """Count trials: a problem makes them wrong."""
        self.tried += tried
        if problem is None:
            self.survived += tried
        else:
            self.wrong.append(problem)


class Undisturbed:
    """Runs that nobody disturbs, each made when it is first asked for."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.data = write_data(place / "data", 1, 4, 6)
        self._done: dict[str, tuple[Path, float]] = {}
        self._number = 0

    def config(self, kind: str) -> RunConfig:
        task, name, changes = KINDS[kind]
        settings = preset(name).with_settings(changes)
        data = str(self.data.resolve())
        return RunConfig(task=task, seed=3, preset=name, settings=settings, data=data)

    def fresh(self, kind: str, place: Path | None = None) -> Path:
        """A new run, planned but not begun."""
        self._number += 1
        directory = (place or self.place) / f"run-{self._number}"
        RunDirectory(directory).begin(self.config(kind).as_json())
        return directory

    def whole(self, kind: str) -> tuple[Path, float]:
        """The directory of a run that was left alone, and the seconds that it took."""
        if kind not in self._done:
            directory, begun = self.fresh(kind), time.monotonic()
            status = wait_for(fork(lambda: train(directory)))
            assert status == 0, status
            self._done[kind] = directory, time.monotonic() - begun
        return self._done[kind]

    def compare(self, kind: str, directory: Path) -> str | None:
        """How a finished run differs from one that was left alone, if it does."""
        return difference(self.whole(kind)[0], directory)


def difference(whole: Path, directory: Path) -> str | None:
    """How a finished run differs from another one, if it does."""
    one, other = RunDirectory(whole), RunDirectory(directory)
    if not other.finished:
        return f"{directory.name} did not come to its end"
    if one.model.read_bytes() != other.model.read_bytes():
        return f"{directory.name} has other weights"
    if _record(one) != _record(other):
        return f"{directory.name} has another record"
    if _curve(one) != _curve(other):
        return f"{directory.name} has another curve"
    left = {path.name for path in directory.iterdir()} - {path.name for path in whole.iterdir()}
    return f"{directory.name} has files left: {left}" if left else None


def _record(there: RunDirectory) -> object:
    record = read_record(there.path / "result.json")
    same = {"seconds": 0.0, "cpu_seconds": 0.0, "experiment": "", "variant": ""}
    same |= {"commit": None, "dirty": None}
    # They follow from the weights, say when they were scored, and a sweep scores them at its end.
    same |= {"test": None, "probes": {}, "new_names": None}
    return structs.replace(record, **same)


def _curve(there: RunDirectory) -> list[object]:
    lines = (there.path / "metrics.jsonl").read_text().splitlines()
    kept = ("step", "epoch", "learning_rate", "train_loss", "valid_loss", "valid_error")
    return [[json.loads(line)[name] for name in kept] for line in lines]


def train(directory: Path) -> None:
    """Go on with a run to its end, as `tpr-rnn train --resume` does."""
    run_module.CHECKPOINT_SECONDS = OFTEN
    there = RunDirectory(directory)
    if not there.finished:
        run = Run.resume(directory)
        for _ in run.events():
            pass
        run.finish()


def fork(what: Callable[[], None]) -> int:
    """Do something in a process of its own, quietly; return its number.

    It ends with 0, with 2 where the user is told of a problem, with 1 after a traceback.
    """
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        what()
        status = 0
    except (UserError, OSError):
        status = 2
    finally:
        os._exit(status)


def wait_for(child: int) -> int:
    """The exit status of a process; that of a killed one is negative."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def lost_seconds(directory: Path) -> float:
    """So much training a killed run has lost, as far as its last evaluation tells; its files
    must be whole.
    """
    there = RunDirectory(directory)
    kept = 0.0
    for path in (there.checkpoint, there.checkpoint_before):
        if path.exists():
            kept = max(kept, float(read_tensors(path)[0]["seconds"]))
    last = 0.0
    curve = directory / "metrics.jsonl"
    for line in curve.read_text().splitlines() if curve.exists() else []:
        with contextlib.suppress(json.JSONDecodeError):  # the line that the kill cut off
            last = json.loads(line)["seconds"]
    return max(last - kept, 0.0)
