"""The records of runs, put together by their settings."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tpr_rnn.data.corpus import task_order
from tpr_rnn.errors import UserError
from tpr_rnn.memory import OPERATIONS
from tpr_rnn.models.registry import ARCHITECTURES, TPR_RNN
from tpr_rnn.report.fields import has, number, percent, whole
from tpr_rnn.training.compare import all_settings, setting_value
from tpr_rnn.training.presets import PRESETS
from tpr_rnn.training.progress import DIVERGED


class CurvePoint(NamedTuple):
    """An evaluation of a run, as a learning curve has it."""

    step: int
    cpu_seconds: float
    valid_error: float


class NewName(NamedTuple):
    """What became of a new name in a task, in percent."""

    name: str
    task: str
    trained: bool
    accuracy: float
    asked_accuracy: float
    """Of the questions about the name itself."""


class SwappedNames(NamedTuple):
    """Errors in percent with the names as they are, and with names from other tasks."""

    plain_error: float
    swapped_error: float
    per_task: Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Record:
    """What a report needs of one run."""

    path: Path
    """Its result.json."""
    task: str
    seed: int
    preset: str
    architecture: str
    data: str
    data_sha256: str
    operations: tuple[str, ...]
    """Of the memory; none where there is no memory."""
    settings: Mapping[str, Any]
    """Every setting of model and training but the operations."""
    errors: Mapping[str, float]
    """Test errors in percent, by task."""
    valid_error: float
    valid_loss: float
    steps: int
    cpu_seconds: float
    """Of the processor; records that are older than it have those on the clock."""
    substituted: Mapping[str, str]
    stopped: str | None = None
    """Why it ended before its last step, if it did."""
    new_names: tuple[NewName, ...] = ()
    swapped_names: SwappedNames | None = None
    """None where the run has not been put to that test."""

    @property
    def whole(self) -> bool:
        """Whether the model lacks none of the memory's operations, if it has a memory at all."""
        return self.architecture != TPR_RNN or self.operations == OPERATIONS

    @property
    def diverged(self) -> bool:
        """Whether it ended because its loss was no longer a number."""
        return self.stopped is not None and self.stopped.startswith(DIVERGED)

    @property
    def rank(self) -> tuple[float, float, int]:
        """The least is the best by validation: error, then loss, then seed."""
        return self.valid_error, self.valid_loss, self.seed

    def changed(self) -> dict[str, tuple[Any, Any]]:
        """The settings that are not those of its preset, as they are and as the preset has them."""
        if self.preset not in PRESETS:
            return {}
        usual = all_settings(PRESETS[self.preset])
        return {
            name: (value, usual.get(name))
            for name, value in self.settings.items()
            if usual.get(name) != value
        }

    def curve(self) -> list[CurvePoint]:
        """Steps, seconds of the processor and validation errors; empty if none were kept."""
        path = self.path.parent / "metrics.jsonl"
        if not path.exists():
            return []
        points: list[CurvePoint] = []
        for line, content in enumerate(path.read_text("utf-8", "replace").splitlines(), start=1):
            try:
                point = _curve_point(json.loads(content))
                if points and point.step <= points[-1].step:
                    raise ValueError(f"step {point.step} comes after step {points[-1].step}")
            except ValueError as error:
                raise UserError(
                    f"{path}:{line}: no line of a learning curve ({error}); mend or remove it"
                ) from error
            points.append(point)
        return points


@dataclass(frozen=True)
class Group:
    """Runs that differ in task, seed and operations alone."""

    label: str
    records: tuple[Record, ...]

    @property
    def first(self) -> Record:
        """One of them, where any will do."""
        return self.records[0]

    @property
    def system(self) -> str:
        """The kind of model, and the label."""
        return f"{ARCHITECTURES[self.first.architecture].title} (`{self.label}`)"

    @property
    def seeds(self) -> list[int]:
        """All seeds that any of them has."""
        return sorted({record.seed for record in self.records})

    def find(self, task: str, seed: int) -> Record | None:
        """The run of a task and a seed, if there is one."""
        for record in self.records:
            if (record.task, record.seed) == (task, seed):
                return record
        return None


def group_records(records: Sequence[Record]) -> list[Group]:
    """Records of the same preset, settings and data together, ours before the paper's."""
    kinds: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        kinds.setdefault(kind_of(record), []).append(record)
    groups = [
        Group(
            _label(members[0], [other[0] for other in kinds.values()]),
            tuple(sorted(members, key=lambda record: (task_order(record.task), record.seed))),
        )
        for members in kinds.values()
    ]
    ours = ("single", "all", "systematic", "lstm")
    ours_first = [*ours, *(name for name in PRESETS if name not in ours)]

    def order(group: Group) -> tuple[int, str]:
        name = group.first.preset
        return ours_first.index(name) if name in ours_first else len(ours_first), group.label

    return sorted(groups, key=order)


def kind_of(record: Record) -> tuple[str, str, str]:
    """What records of a group have in common."""
    return record.preset, record.data, json.dumps(dict(record.settings), sort_keys=True)


def _label(record: Record, all_kinds: Sequence[Record]) -> str:
    """The preset, and what distinguishes the record from others of the same preset.

    A setting that is as the preset has it needs no words; where others are not, and the same in
    all records, it says so, for a changed preset is not the preset.
    """
    others = [other for other in all_kinds if other.preset == record.preset]
    changed = {name: now for name, (now, _) in record.changed().items()}
    telling = [
        name
        for name, value in changed.items()
        if any(other.settings.get(name) != value for other in others)
    ]
    parts = [record.preset]
    if len({other.data for other in others}) > 1:
        parts.append(record.data)
    parts += [f"{name} {setting_value(changed[name])}" for name in telling]
    if len(telling) < len(changed):
        parts.append("changed")
    return ", ".join(parts)


def _curve_point(content: Any) -> CurvePoint:
    # Lines that are older than the count of the processor's time have that of the clock.
    seconds = "cpu_seconds" if has(content, "cpu_seconds") else "seconds"
    return CurvePoint(
        whole(content, "step"), number(content, seconds), percent(content, "valid_error")
    )
