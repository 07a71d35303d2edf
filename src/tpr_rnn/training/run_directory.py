"""A run on disk: what it was told to do, how far it is, and what came of it.

config.json              task, seed, data, preset and every setting
model.safetensors        the best model on validation so far, with its vocabulary
metrics.jsonl            one line for each evaluation
checkpoint.safetensors   the whole state, to resume from; gone when the run is finished
checkpoint.before.safetensors   the one before it, for when that is damaged
result.json              the record of the run (evaluation/record.py); written last
failure.json             why a run of a sweep has no result (experiments/worker.py)
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct, structs

from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.record import RunRecord, Seconds, encode_record, read_record
from tpr_rnn.files import (
    append_line,
    clear_unfinished,
    make_directory,
    read_tensors,
    write_atomically,
    write_tensors,
)
from tpr_rnn.settings import first_difference
from tpr_rnn.training.progress import Progress
from tpr_rnn.training.trainer import Trainer

CONFIG = "config.json"
"""The file that makes a directory that of a run."""
FAILURE = "failure.json"
"""Why a run of a sweep has no result; gone when it has one."""


class Busy(UserError):
    """Another process is working on the run."""


class Elapsed(NamedTuple):
    """The time that a run took, before interruptions included."""

    seconds: float = 0.0
    """On the clock."""
    cpu_seconds: float = 0.0
    """Of the processor: what it would take on a core of its own, with nothing else running."""


class RunDirectory:
    """The files of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.model = path / "model.safetensors"
        self.checkpoint = path / "checkpoint.safetensors"
        self.checkpoint_before = path / "checkpoint.before.safetensors"
        self._damaged = False

    @property
    def started(self) -> bool:
        """Whether a run was ever begun here."""
        return (self.path / CONFIG).exists()

    @property
    def finished(self) -> bool:
        """Whether the run has come to its end."""
        return (self.path / "result.json").exists()

    def check_free(self) -> None:
        """Refuse a directory that holds something else than runs: it is somebody's."""
        if self.path.is_dir():
            others = sorted(path.name for path in self.path.iterdir() if path.name[0] != ".")
            if set(others) - {CONFIG, FAILURE}:
                raise UserError(
                    f"{self.path}: holds files, but no run ({', '.join(others[:3])}); "
                    "choose another --out"
                )

    def begin(self, config: dict[str, Any]) -> None:
        """Make the directory and write the configuration."""
        make_directory(self.path)
        self._write_json(CONFIG, config)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep others from working here meanwhile; the lock dies with the process.

        What a process that was killed has left half-written is cleared away.
        """
        try:
            import fcntl
        except ImportError:  # Windows; there a person must take care
            clear_unfinished(self.path)
            yield
            return
        with (self.path / ".lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Busy(f"{self.path}: another process is working on this run") from None
            clear_unfinished(self.path)
            yield

    def config(self) -> dict[str, Any]:
        """The configuration that the run was begun with."""
        return self._read_json(CONFIG)

    def finish(self, record: RunRecord) -> None:
        """Write the record; there is nothing to resume any more."""
        self.write_record(record)
        for path in (self.checkpoint, self.checkpoint_before, self.path / ".lock"):
            path.unlink(missing_ok=True)

    def write_record(self, record: RunRecord) -> None:
        """Write what came of the run, or what was added to it since."""
        text = msgspec.json.format(encode_record(record), indent=2) + b"\n"
        write_atomically(self.path / "result.json", text)

    def record(self) -> RunRecord:
        """What came of the run."""
        return read_record(self.path / "result.json")

    def append_metrics(self, line: dict[str, Any]) -> None:
        """Add the line of an evaluation."""
        append_line(self.path / "metrics.jsonl", json.dumps(line))

    def drop_metrics_after(self, step: int) -> None:
        """Forget evaluations that a resumed run will make again, and a half-written last line."""
        path = self.path / "metrics.jsonl"
        if not path.exists():
            return
        kept = []
        lines = path.read_text("utf-8", "replace").splitlines()
        for number, line in enumerate(lines, start=1):
            try:
                if json.loads(line)["step"] <= step:
                    kept.append(line + "\n")
            except (TypeError, LookupError, ValueError):
                if number < len(lines):  # no kill does that
                    raise UserError(
                        f"{path}:{number}: not the line of an evaluation; mend or remove it"
                    ) from None
        write_atomically(path, "".join(kept).encode())

    def save_checkpoint(self, trainer: Trainer, elapsed: Elapsed) -> None:
        """Write the whole state of a run, in one file and in one step; keep the one before it."""
        description = {
            "settings": _settings(trainer),
            "progress": structs.asdict(trainer.progress),
            **elapsed._asdict(),
        }
        before = None if self._damaged else self.checkpoint_before
        write_tensors(self.checkpoint, trainer.tensors(), description, before)
        self._damaged = False

    def load_checkpoint(self, trainer: Trainer) -> tuple[Elapsed, str | None]:
        """Bring a trainer to the saved state; return the time that it took to get there.

        Where the newest checkpoint is damaged the one before it is used, and the second value says
        so. A run that was killed before its first checkpoint starts at the beginning, and the
        second value says what is lost.
        """
        problem: UserError | None = None
        for path in (self.checkpoint, self.checkpoint_before):
            if not path.exists():
                continue
            try:
                elapsed = _restore(trainer, path)
            except UserError as error:
                problem = problem or error
                continue
            self._damaged = problem is not None
            if problem is None:
                return elapsed, None
            return elapsed, f"{problem}; going on from {path.name}"
        if problem is None:
            return Elapsed(), self._lost()
        raise UserError(f"{problem}; remove it to start the run from the beginning")

    def _lost(self) -> str | None:
        """What a run that starts at the beginning loses, if it had come to an evaluation."""
        if not (self.path / "metrics.jsonl").exists():
            return None
        return (
            f"{self.path} has the evaluations of a run (metrics.jsonl), but neither its record nor "
            "a checkpoint; starting from the beginning"
        )

    def _write_json(self, name: str, content: dict[str, Any]) -> None:
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        write_atomically(self.path / name, text.encode())

    def _read_json(self, name: str) -> dict[str, Any]:
        path = self.path / name
        try:
            content: dict[str, Any] = json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            raise UserError(f"{path}: no such file; is {self.path} a run directory?") from None
        except json.JSONDecodeError as error:
            raise UserError(
                f"{path}:{error.lineno}: not JSON ({error.msg}); bring it back, "
                f"or move {self.path} away to run it anew"
            ) from None
        except (OSError, ValueError) as error:  # no text, or a number of thousands of digits
            raise UserError(f"{path}: cannot be read ({error})") from error
        except RecursionError:
            raise UserError(f"{path}: not that of a run (nested too deeply)") from None
        if not isinstance(content, dict):
            raise UserError(f"{path}: not that of a run (expected a JSON object)")
        return content


class _Description(Struct, frozen=True, forbid_unknown_fields=True):
    """What a checkpoint says beside its tensors."""

    progress: Progress
    seconds: Seconds
    cpu_seconds: Seconds
    settings: dict[str, Any] = {}
    """Those that it was made with: a config.json that was changed or damaged since is noticed."""


def _settings(trainer: Trainer) -> dict[str, Any]:
    """What decides how a run goes, as JSON values."""
    told = {"seed": trainer.seed, **asdict(trainer.config), **asdict(trainer.recipe)}
    settings: dict[str, Any] = json.loads(json.dumps(told))  # lists, not tuples
    return settings


def _restore(trainer: Trainer, path: Path) -> Elapsed:
    """Bring a trainer to the state of a checkpoint; one that cannot be used changes nothing."""
    try:
        content, tensors = read_tensors(path)
        if isinstance(content.get("progress"), str):  # version 0.1 kept all parts as text
            content = {name: json.loads(text) for name, text in content.items()}
        description = msgspec.convert(content, _Description)
        if changed := first_difference(description.settings, _settings(trainer)):
            raise ValueError(
                f"it was made with {changed.name} {changed.wanted}, "
                f"and {CONFIG} has {changed.there} now"
            )
        trainer.restore(description.progress, tensors)
    except (UserError, LookupError, RuntimeError, TypeError, ValueError) as error:
        reason = str(error).splitlines()[0].removeprefix(f"{path}: ")
        raise UserError(f"{path}: cannot be resumed from ({reason})") from error
    return Elapsed(description.seconds, description.cpu_seconds)
