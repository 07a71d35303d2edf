"""A run on disk: what it was told to do, how far it is, and what came of it.

config.json              task, seed, data, preset and every setting
model.safetensors        the best model on validation so far, with its vocabulary
metrics.jsonl            one line for each evaluation
checkpoint.safetensors   the whole state, to resume from; gone when the run is finished
result.json              the record of the run (evaluation/record.py); written last
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from safetensors.torch import save

from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.record import RunRecord, encode_record, read_record
from tpr_rnn.files import append_line, make_directory, read_tensors, write_atomically
from tpr_rnn.training.progress import Progress
from tpr_rnn.training.trainer import Trainer


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

    @property
    def started(self) -> bool:
        """Whether a run was ever begun here."""
        return (self.path / "config.json").exists()

    @property
    def finished(self) -> bool:
        """Whether the run has come to its end."""
        return (self.path / "result.json").exists()

    def begin(self, config: dict[str, Any]) -> None:
        """Make the directory and write the configuration."""
        make_directory(self.path)
        self._write_json("config.json", config)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep others from working here meanwhile; the lock dies with the process."""
        try:
            import fcntl
        except ImportError:  # Windows; there a person must take care
            yield
            return
        with (self.path / ".lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Busy(f"{self.path}: another process is working on this run") from None
            yield

    def config(self) -> dict[str, Any]:
        """The configuration that the run was begun with."""
        return self._read_json("config.json")

    def finish(self, record: RunRecord) -> None:
        """Write the record; there is nothing to resume any more."""
        self.write_record(record)
        for name in ("checkpoint.safetensors", ".lock"):
            (self.path / name).unlink(missing_ok=True)

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
        kept = []
        lines = path.read_text("utf-8", "replace").splitlines() if path.exists() else []
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
        """Write the whole state of a run, in one file and in one step."""
        times = {name: str(seconds) for name, seconds in elapsed._asdict().items()}
        metadata = {"progress": json.dumps(asdict(trainer.progress)), **times}
        tensors = {name: tensor.cpu().clone() for name, tensor in trainer.tensors().items()}
        write_atomically(self.path / "checkpoint.safetensors", save(tensors, metadata))

    def load_checkpoint(self, trainer: Trainer) -> Elapsed:
        """Bring a trainer to the saved state; return the time that it took to get there.

        A run that was killed before its first checkpoint starts at the beginning.
        """
        path = self.path / "checkpoint.safetensors"
        if not path.exists():
            return Elapsed()
        try:
            metadata, tensors = read_tensors(path)
            trainer.restore(Progress.from_json(json.loads(metadata["progress"])), tensors)
            seconds = float(metadata["seconds"])
            # A checkpoint that is older than the count of the processor's time has an upper bound.
            return Elapsed(seconds, float(metadata.get("cpu_seconds", seconds)))
        except (UserError, LookupError, RuntimeError, TypeError, ValueError) as error:
            raise UserError(
                f"{path}: cannot be resumed from ({str(error).splitlines()[0]}); "
                "remove it to start the run from the beginning"
            ) from error

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
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"{path}: cannot be read ({error})") from error
        if not isinstance(content, dict):
            raise UserError(f"{path}: not that of a run (expected a JSON object)")
        return content
