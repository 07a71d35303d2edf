"""The record of a run, as `result.json` has it and as a line of `results/records/*.jsonl` has it.

Test errors stand apart from all that training knows: they are null until somebody asks for them
(`tpr-rnn evaluate --split test`, or the last step of a sweep), and say when that was and by which
command. A checksum tells a record that was changed or damaged.
"""

import hashlib
import math
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from tpr_rnn.errors import UserError

Percent = Annotated[float, Meta(ge=0, le=100)]
Count = Annotated[int, Meta(ge=0, le=2**62)]
Seconds = Annotated[float, Meta(ge=0, le=1e15)]
Setting = bool | int | float | str | list[str] | None


class _Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of a record: typed, and with no field that nobody knows."""


class TaskError(_Part, frozen=True, kw_only=True):
    """How a task fared."""

    error: Percent
    """Share of the questions that got a wrong answer."""


class _Errors(_Part, frozen=True, kw_only=True):
    """Errors in percent."""

    error: Percent
    """The mean over tasks."""
    per_task: dict[str, TaskError]
    """By the name of the task."""

    def __post_init__(self) -> None:
        """Refuse a mean that is not that of the tasks: one of the two was changed by hand."""
        if not self.per_task:
            raise ValueError("per_task is empty")
        mean = fmean(each.error for each in self.per_task.values())
        if not math.isclose(self.error, mean, abs_tol=0.01):
            raise ValueError(
                f"error is {self.error:g}, but those of per_task have a mean of {mean:g}"
            )


class ValidErrors(_Errors, frozen=True, kw_only=True):
    """What the best weights reach on the validation questions, by which they were chosen."""

    loss: Annotated[float, Meta(ge=0)] | None
    """None if it was no number."""


class FinalErrors(_Errors, frozen=True, kw_only=True):
    """Errors on the test questions."""

    when: str
    """When they were scored: date and time (UTC, ISO 8601)."""
    command: str
    """What asked for them."""


class NewName(_Part, frozen=True, kw_only=True):
    """How the stories of a new name in a task fared, in percent."""

    trained: bool
    """Whether the training stories of the task have the name."""
    accuracy: Percent
    """Of all questions about these stories."""
    asked_accuracy: Percent
    """Of the questions about the name itself."""


class NewNames(_Part, frozen=True, kw_only=True):
    """How new names fared (data/babi/systematic.py)."""

    per_name: dict[str, dict[str, NewName]]
    """By name and task."""
    when: str
    """When it was measured (UTC, ISO 8601)."""
    command: str
    """What asked for it."""

    def __post_init__(self) -> None:
        """Refuse a probe of nothing."""
        if not self.per_name or not all(self.per_name.values()):
            raise ValueError("per_name has no names, or a name without tasks")


class ProbePart(_Part, frozen=True, kw_only=True, omit_defaults=True):
    """How a part of a probe fared: a task, or a kind of question."""

    error: Percent
    """Share of its questions that got a wrong answer."""
    plain_error: Percent | None = None
    """The same of these questions as they were; None where a probe has its own."""
    questions: Count | None = None
    """How many were asked; None where the data say it."""


class ProbeScore(_Part, frozen=True, kw_only=True, omit_defaults=True):
    """How a probe fared: questions that no part of the data asks."""

    error: Percent
    """Of all its questions (one that changes those of the data), or the mean over parts."""
    plain_error: Percent | None = None
    """The same of these questions as they were; None where a probe has its own."""
    per_part: dict[str, ProbePart]
    """By the name of the task, or of the kind of question."""
    measures: dict[str, Percent] = {}
    """What else it measures, by name."""

    def __post_init__(self) -> None:
        """Refuse a probe of nothing."""
        if not self.per_part:
            raise ValueError("per_part is empty")


class RecordedProbe(ProbeScore, frozen=True, kw_only=True, omit_defaults=True):
    """The same, as it was measured for a record."""

    when: str
    """When it was measured (UTC, ISO 8601)."""
    command: str
    """What asked for it."""


class Calibration(_Part, frozen=True, kw_only=True):
    """How sure the model is, and how sure it should be (evaluation/calibration.py)."""

    temperature: Annotated[float, Meta(ge=1)]
    """What its scores are divided by; chosen on the validation questions."""
    error_before: Percent
    """The expected calibration error on these questions at a temperature of 1."""
    error: Percent
    """The same at this temperature."""


class Settings(_Part, frozen=True, kw_only=True):
    """Every setting, with the sizes that come from the data."""

    model: dict[str, Setting]
    """Of the model."""
    recipe: dict[str, Setting]
    """Of training."""


class CurvePoint(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """An evaluation during training, as a learning curve has it."""

    step: Count
    """Training steps so far."""
    cpu_seconds: Seconds
    """Of the processor, so far."""
    valid_error: Percent
    """On the validation questions."""


class RunRecord(_Part, frozen=True, kw_only=True, omit_defaults=True):
    """What came of a run, and all that it takes to tell it from others."""

    experiment: str
    """Such as single-task: one table or figure."""
    variant: str
    """What distinguishes it within the experiment from runs of the same task and seed."""
    architecture: str
    """The kind of model, by its name in the registry."""
    preset: str
    """The settings that it started from."""
    task: str
    """A task's name, all, or the name of an experiment with several."""
    seed: Count
    """That of all randomness."""
    attempts: Count
    """How often training began."""
    initialisation_seeds: list[Count]
    """More than one where an attempt was given up, or began with NaN."""
    commit: str | None
    """Of the code; None where it is not known."""
    dirty: bool | None
    """Whether the code had changes that are in no commit."""
    kernel: str | None
    """What computed the memory; None where there is no memory, or where it is not known."""
    device: str
    """Such as cpu or cuda."""
    threads: Count
    """Threads of torch."""
    valid: ValidErrors
    """Errors on the validation questions."""
    test: FinalErrors | None
    """Errors on the test questions; None: nobody has asked for them."""
    new_names: NewNames | None
    """A mixture with new names; None: not asked for."""
    data: str
    """The directory's name, or `generated`."""
    data_sha256: str
    """Checksum of the stories."""
    questions: dict[str, Count]
    """How many there are, by split."""
    missing_files: dict[str, str]
    """Tasks that could not be had, and why."""
    substituted: dict[str, str]
    """Tasks that were trained on other stories than the official ones, and on which."""
    versions: dict[str, str]
    """Of Python and of the libraries."""
    settings: Settings
    """All settings of model and training."""
    parameters: Count
    """How many numbers the model has learned."""
    steps: Count
    """Training steps, of all attempts."""
    best_step: Count | None
    """The step whose weights were kept."""
    stopped: str | None
    """Why it ended before its last step, if it did."""
    seconds: Seconds
    """On the clock."""
    cpu_seconds: Seconds
    """Of the processor."""
    processes: Count = 1
    """That trained it together, in the end; the seconds are those of the first."""
    calibration: Calibration | None = None
    """None: a run that is older than it."""
    probes: dict[str, RecordedProbe] = {}
    """Those that were asked for, by name."""
    curve: list[CurvePoint] = msgspec.field(default_factory=list)
    """Kept where a figure shows it; a run directory has it in `metrics.jsonl`."""

    @property
    def rank(self) -> tuple[float, float, int]:
        """The least is the best by validation: error, then loss, then seed."""
        loss = math.inf if self.valid.loss is None else self.valid.loss
        return self.valid.error, loss, self.seed


def as_json(record: RunRecord) -> dict[str, Any]:
    """A record as JSON values, with its checksum."""
    content: dict[str, Any] = msgspec.to_builtins(record)
    return content | {"checksum": _checksum(content)}


def encode_record(record: RunRecord) -> bytes:
    """A record as a line of JSON."""
    return msgspec.json.encode(as_json(record))


def decode_record(line: bytes) -> RunRecord:
    """Read `encode_record` back; ValueError, with the name of the field, for what is no record."""
    try:
        content = msgspec.json.decode(line, type=dict[str, Any])
        checksum = content.pop("checksum", None)
        record = msgspec.convert(content, RunRecord)
        if checksum != _checksum(content):
            raise ValueError("its checksum is not that of its content: it was changed or damaged")
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return record


def read_record(path: Path) -> RunRecord:
    """The record in a `result.json`."""
    try:
        return decode_record(path.read_bytes())
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; is {path.parent} a finished run?") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise UserError(f"{path}: not the record of a run ({error})") from error


def read_lines(path: Path) -> list[RunRecord]:
    """The records of a file that has one a line."""
    records = []
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from error
    for number, line in enumerate(lines, start=1):
        try:
            records.append(decode_record(line))
        except ValueError as error:
            raise UserError(f"{path}:{number}: not the record of a run ({error})") from error
    return records


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()
