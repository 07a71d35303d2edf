"""The runs of a report: each once, none on other stories, put together by their settings."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tpr_rnn.data.corpus import task_order
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.reading import find_records
from tpr_rnn.evaluation.record import FinalErrors, RunRecord
from tpr_rnn.models.registry import ARCHITECTURES
from tpr_rnn.settings import setting_value
from tpr_rnn.training.preset import Preset
from tpr_rnn.training.presets import PRESETS
from tpr_rnn.training.progress import DIVERGED


@dataclass(frozen=True)
class Trained:
    """A finished run."""

    place: str
    """Where its record was found."""
    run: RunRecord
    settings: Mapping[str, Any]
    """Every setting of model and training."""

    @property
    def diverged(self) -> bool:
        """Whether it ended because its loss was no longer a number."""
        return self.run.stopped is not None and self.run.stopped.startswith(DIVERGED)

    def changed(self) -> dict[str, tuple[Any, Any]]:
        """The settings that are not those of its preset, as they are and as the preset has them."""
        if self.run.preset not in PRESETS:
            return {}
        usual = PRESETS[self.run.preset].all_settings()
        return {
            name: (value, usual.get(name))
            for name, value in self.settings.items()
            if usual.get(name) != value
        }


@dataclass(frozen=True)
class Record(Trained):
    """A run whose test questions were scored."""

    test: FinalErrors

    @property
    def errors(self) -> dict[str, float]:
        """Test errors in percent, by task."""
        return {task: each.error for task, each in self.test.per_task.items()}


@dataclass(frozen=True)
class Group:
    """Runs that differ in task and seed alone."""

    label: str
    records: tuple[Record, ...]

    @property
    def first(self) -> Record:
        """One of them, where any will do."""
        return self.records[0]

    @property
    def system(self) -> str:
        """The kind of model, and the label."""
        return f"{ARCHITECTURES[self.first.run.architecture].title} (`{self.label}`)"

    @property
    def seeds(self) -> list[int]:
        """All seeds that any of them has."""
        return sorted({record.run.seed for record in self.records})

    def find(self, task: str, seed: int) -> Record | None:
        """The run of a task and a seed, if there is one."""
        for record in self.records:
            if (record.run.task, record.run.seed) == (task, seed):
                return record
        return None


def read_trained(places: Sequence[Path]) -> list[Trained]:
    """The runs in some files and directories, whether their test questions were scored or not."""
    return [Trained(place, run, _settings(place, run)) for place, run in find_records(places)]


def _settings(place: str, run: RunRecord) -> dict[str, Any]:
    try:
        return Preset.of_record(run).all_settings()
    except UserError as error:
        raise UserError(f"{place}: not the record of a run ({error})") from error


def read_records(places: Sequence[Path]) -> tuple[list[Record], dict[str, str]]:
    """The runs in some files and directories, and those that cannot be shown, with the reason.

    A run that is there twice counts once.
    """
    chosen: dict[tuple[Any, ...], Record] = {}
    stories: dict[tuple[Any, ...], Record] = {}
    left_out: dict[str, str] = {}
    for place, run in find_records(places):
        if run.test is None:
            left_out[place] = "its test questions are not scored yet"
            continue
        record = Record(place, run, _settings(place, run), run.test)
        kind = (run.experiment, run.variant, *kind_of(record))
        twin = chosen.setdefault((*kind, run.task, run.seed), record)
        if (twin.errors, twin.run.rank) != (record.errors, record.run.rank):
            raise UserError(
                f"{twin.place} and {place} have the same settings and seed, and other errors; "
                "leave out one of them"
            )
        other = stories.setdefault((*kind, run.task), record)
        if other.run.data_sha256 != run.data_sha256:
            raise UserError(
                f"{other.place} and {place} are runs of the same kind on different stories; "
                "leave out one of them"
            )
    return list(chosen.values()), left_out


def group_records(records: Sequence[Record], apart_from: str = "") -> list[Group]:
    """Records of the same preset, settings and data together, ours before the paper's.

    Args:
        records: the records of one experiment.
        apart_from: a setting in which members of a group may differ.
    """
    kinds: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        kinds.setdefault(kind_of(record, apart_from), []).append(record)
    groups = [
        Group(
            _label(members[0], [other[0] for other in kinds.values()], apart_from),
            tuple(sorted(members, key=lambda each: (task_order(each.run.task), each.run.seed))),
        )
        for members in kinds.values()
    ]
    ours = ("single", "all", "systematic", "lstm")
    ours_first = [*ours, *(name for name in PRESETS if name not in ours)]

    def order(group: Group) -> tuple[int, str]:
        name = group.first.run.preset
        return ours_first.index(name) if name in ours_first else len(ours_first), group.label

    return sorted(groups, key=order)


def labels(records: Sequence[Trained]) -> dict[tuple[str, ...], str]:
    """What each kind of runs is called, by what its runs have in common."""
    first = {kind_of(record): record for record in reversed(records)}
    return {kind: _label(record, list(first.values()), "") for kind, record in first.items()}


def kind_of(record: Trained, apart_from: str = "") -> tuple[str, str, str]:
    """What records of a group have in common."""
    settings = {name: value for name, value in record.settings.items() if name != apart_from}
    return record.run.preset, record.run.data, json.dumps(settings, sort_keys=True)


def _label(record: Trained, all_kinds: Sequence[Trained], apart_from: str) -> str:
    """The preset, and what distinguishes the record from others of the same preset.

    A setting that is as the preset has it needs no words; where others are not, and the same in
    all records, it says so, for a changed preset is not the preset.
    """
    others = [other for other in all_kinds if other.run.preset == record.run.preset]
    changed = {name: now for name, (now, _) in record.changed().items() if name != apart_from}
    telling = [
        name
        for name, value in changed.items()
        if any(other.settings.get(name) != value for other in others)
    ]
    parts = [record.run.preset]
    if len({other.run.data for other in others}) > 1:
        parts.append(record.run.data)
    parts += [f"{name}={setting_value(changed[name])}" for name in telling]
    if len(telling) < len(changed):
        parts.append("changed")
    return ", ".join(parts)
