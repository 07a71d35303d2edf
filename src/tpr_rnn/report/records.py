"""The records of runs: found, checked, and put together by their settings."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tpr_rnn.data.systematic import PLANS
from tpr_rnn.errors import UserError
from tpr_rnn.experiments.worker import FAILURE
from tpr_rnn.memory import OPERATIONS
from tpr_rnn.models.registry import ARCHITECTURES, TPR_RNN
from tpr_rnn.training.compare import all_settings, settings_of_result
from tpr_rnn.training.presets import PRESETS
from tpr_rnn.training.progress import DIVERGED
from tpr_rnn.training.run_directory import RunDirectory

CURVE_AXES = ("step", "cpu_seconds", "valid_error")
"""What a learning curve is drawn from."""


class NewName(NamedTuple):
    """What became of a new name in a task, in percent."""

    name: str
    task: int
    trained: bool
    accuracy: float
    asked_accuracy: float
    """Of the questions about the name itself."""


class SwappedNames(NamedTuple):
    """Errors in percent with the names as they are, and with names from other tasks."""

    plain_error: float
    swapped_error: float
    per_task: Mapping[int, tuple[float, float]]


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
    errors: Mapping[int, float]
    """Test errors in percent, by task."""
    valid_error: float
    valid_loss: float
    steps: int
    cpu_seconds: float
    """Of the processor; records that are older than it have those on the clock."""
    filled: Mapping[str, str]
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

    def curve(self) -> list[dict[str, float]]:
        """Steps, seconds of the processor and validation errors; empty if none were kept."""
        path = self.path.parent / "metrics.jsonl"
        if not path.exists():
            return []
        points = []
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            try:
                content = json.loads(line)
                content.setdefault("cpu_seconds", content["seconds"])
                points.append({axis: float(content[axis]) for axis in CURVE_AXES})
            except (ValueError, TypeError, LookupError) as error:
                raise UserError(f"{path}:{number}: no line of a learning curve") from error
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


def read_records(directories: Sequence[Path]) -> list[Record]:
    """Every record below some directories; a run that is there twice counts once."""
    paths: set[Path] = set()
    for directory in directories:
        if not directory.is_dir():
            raise UserError(f"{directory}: no such directory; expected one with runs in it")
        paths.update(path.resolve() for path in directory.rglob("result.json"))
    if not paths:
        places = ", ".join(map(str, directories))
        raise UserError(
            f"{places}: no result.json there; the runs of `tpr-rnn sweep` have one each"
        )
    chosen: dict[tuple[Any, ...], Record] = {}
    stories: dict[tuple[Any, ...], Record] = {}
    for record in map(_read, sorted(paths)):
        same = (*_kind(record), record.operations, record.task, record.seed)
        twin = chosen.setdefault(same, record)
        if (twin.errors, twin.rank) != (record.errors, record.rank):
            raise UserError(
                f"{twin.path} and {record.path} have the same settings and seed, and other errors; "
                "leave out one of them"
            )
        other = stories.setdefault((*_kind(record), record.task), record)
        if other.data_sha256 != record.data_sha256:
            raise UserError(
                f"{other.path} and {record.path} are runs of the same kind on different stories; "
                "leave out one of them"
            )
    return list(chosen.values())


def runs_without_record(directories: Iterable[Path]) -> dict[Path, str]:
    """Every run below some directories that has no record, and why."""
    reasons = {"config.json": "it is not finished", FAILURE: f"it failed ({FAILURE} says why)"}
    found = {
        path.parent.resolve(): reason
        for name, reason in reasons.items()
        for directory in directories
        for path in directory.rglob(name)
    }
    return {path: found[path] for path in sorted(found) if not RunDirectory(path).finished}


def group_records(records: Sequence[Record]) -> list[Group]:
    """Records of the same preset, settings and data together, ours before the paper's."""
    kinds: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        kinds.setdefault(_kind(record), []).append(record)
    groups = [
        Group(
            _label(members[0], [other[0] for other in kinds.values()]),
            tuple(sorted(members, key=lambda record: (len(record.task), record.task, record.seed))),
        )
        for members in kinds.values()
    ]
    ours = ("single", "all", "systematic", "lstm")
    ours_first = [*ours, *(name for name in PRESETS if name not in ours)]

    def order(group: Group) -> tuple[int, str]:
        name = group.first.preset
        return ours_first.index(name) if name in ours_first else len(ours_first), group.label

    return sorted(groups, key=order)


def _kind(record: Record) -> tuple[str, str, str]:
    return record.preset, record.data, json.dumps(dict(record.settings), sort_keys=True)


def _label(record: Record, all_kinds: Sequence[Record]) -> str:
    """The preset, and what distinguishes the record from others of the same preset.

    A setting that is as the preset has it needs no words.
    """
    others = [other for other in all_kinds if other.preset == record.preset]
    changed = record.changed()
    parts = [record.preset]
    if len({other.data for other in others}) > 1:
        parts.append(record.data)
    for name, value in record.settings.items():
        if name in changed and any(other.settings.get(name) != value for other in others):
            parts.append(f"{name} {value}")
    if len(others) == 1 and changed:
        parts.append("changed")
    return ", ".join(parts)


def _read(path: Path) -> Record:
    content = RunDirectory(path.parent).result()
    try:
        settings = settings_of_result(content)
        operations = settings.pop("operations", ())
        return Record(
            path=path,
            task=content["task"],
            seed=content["seed"],
            preset=content["preset"],
            architecture=settings["architecture"],
            data=content["data"],
            data_sha256=content["data_sha256"],
            operations=tuple(name for name in OPERATIONS if name in operations),
            settings=settings,
            errors={
                int(task): _percent(errors["test_error"])
                for task, errors in content["per_task"].items()
            },
            valid_error=_percent(content["valid_error"]),
            # Records that are older than it can still be shown.
            valid_loss=float(content.get("valid_loss", math.inf)),
            steps=content["steps"],
            cpu_seconds=float(content.get("cpu_seconds", content["seconds"])),
            filled=content.get("filled", {}),
            stopped=content.get("stopped"),
            new_names=_new_names(content["new_names"]) if content["task"] in PLANS else (),
            swapped_names=_swapped_names(content.get("swapped_names")),
        )
    except (AttributeError, LookupError, TypeError, ValueError, UserError) as error:
        raise UserError(f"{path}: not the record of a run ({error})") from error


def _percent(number: Any) -> float:
    if not 0 <= float(number) <= 100:
        raise ValueError(f"{number} is no error in percent")
    return float(number)


def _new_names(content: Mapping[str, Any]) -> tuple[NewName, ...]:
    if not all(content.values()):
        raise ValueError("a name without tasks")
    return tuple(
        NewName(
            name,
            int(task),
            bool(each["trained"]),
            float(each["accuracy"]),
            float(each["asked_accuracy"]),
        )
        for name, tasks in content.items()
        for task, each in tasks.items()
    )


def _swapped_names(content: Mapping[str, Any] | None) -> SwappedNames | None:
    if content is None:
        return None
    return SwappedNames(
        float(content["plain_error"]),
        float(content["swapped_error"]),
        {
            int(task): (float(each["plain_error"]), float(each["swapped_error"]))
            for task, each in content["per_task"].items()
        },
    )
