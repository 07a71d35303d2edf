"""Finding and reading the records of runs: each checked, none twice, none on other stories."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from tpr_rnn.data.stories import check_task
from tpr_rnn.data.swapped_names import SWAPS
from tpr_rnn.data.systematic import PLANS
from tpr_rnn.errors import UserError
from tpr_rnn.experiments.worker import FAILURE
from tpr_rnn.files import check_directory
from tpr_rnn.memory import OPERATIONS
from tpr_rnn.report.fields import has, number, percent, table, text, whole
from tpr_rnn.report.records import NewName, Record, SwappedNames, kind_of
from tpr_rnn.training.compare import settings_of_result
from tpr_rnn.training.run_directory import RunDirectory


def read_records(directories: Sequence[Path]) -> list[Record]:
    """Every record below some directories; a run that is there twice counts once."""
    paths: set[Path] = set()
    for directory in directories:
        check_directory(directory, "one with runs in it")
        paths.update(path.resolve() for path in directory.rglob("result.json"))
    if not paths:
        places = ", ".join(map(str, directories))
        raise UserError(
            f"{places}: no result.json there; the runs of `tpr-rnn sweep` have one each"
        )
    chosen: dict[tuple[Any, ...], Record] = {}
    stories: dict[tuple[Any, ...], Record] = {}
    for record in map(_read, sorted(paths)):
        same = (*kind_of(record), record.operations, record.task, record.seed)
        twin = chosen.setdefault(same, record)
        if (twin.errors, twin.rank) != (record.errors, record.rank):
            raise UserError(
                f"{twin.path} and {record.path} have the same settings and seed, and other errors; "
                "leave out one of them"
            )
        other = stories.setdefault((*kind_of(record), record.task), record)
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


def _read(path: Path) -> Record:
    content = RunDirectory(path.parent).result()
    try:
        task = text(content, "task")
        check_task(task)
        settings = settings_of_result(content)
        operations = settings.pop("operations", ())
        stopped = content.get("stopped")
        return Record(
            path=path,
            task=task,
            seed=whole(content, "seed"),
            preset=text(content, "preset"),
            architecture=settings["architecture"],
            data=text(content, "data"),
            data_sha256=text(content, "data_sha256"),
            operations=tuple(name for name in OPERATIONS if name in operations),
            settings=settings,
            errors=_errors(content),
            valid_error=percent(content, "valid_error"),
            # Records that are older than it can still be shown.
            valid_loss=number(content, "valid_loss") if has(content, "valid_loss") else math.inf,
            steps=whole(content, "steps"),
            cpu_seconds=number(
                content, "cpu_seconds" if has(content, "cpu_seconds") else "seconds"
            ),
            substituted=_filled(content),
            stopped=None if stopped is None else text(content, "stopped"),
            new_names=_new_names(table(content, "new_names")) if task in PLANS else (),
            swapped_names=_swapped_names(content.get("swapped_names")),
        )
    except (AttributeError, LookupError, TypeError, ValueError, UserError) as error:
        raise UserError(f"{path}: not the record of a run ({error})") from error


def _errors(content: Mapping[str, Any]) -> dict[str, float]:
    """The test errors by task, which are those that their mean was taken of."""
    errors = {
        task: percent(each, "test_error") for task, each in table(content, "per_task").items()
    }
    if not errors:
        raise ValueError("per_task is empty")
    told, mean = percent(content, "test_error"), fmean(errors.values())
    if not math.isclose(told, mean, abs_tol=0.01):
        raise ValueError(f"test_error is {told:g}, but those of per_task have a mean of {mean:g}")
    return errors


def _filled(content: Mapping[str, Any]) -> dict[str, str]:
    """By task, where its training stories came from, if not from the data."""
    if not has(content, "substituted"):
        return {}
    substituted = table(content, "substituted")
    for task, said in substituted.items():
        if not isinstance(said, str):
            raise ValueError(f"substituted has {said!r} for task {task}; expected a text")
    return dict(substituted)


def _new_names(content: Mapping[str, Any]) -> tuple[NewName, ...]:
    if not all(content.values()):
        raise ValueError("a name without tasks")
    return tuple(
        NewName(
            name,
            task,
            bool(each["trained"]),
            percent(each, "accuracy"),
            percent(each, "asked_accuracy"),
        )
        for name, tasks in content.items()
        for task, each in tasks.items()
    )


def _swapped_names(content: Mapping[str, Any] | None) -> SwappedNames | None:
    if content is None:
        return None
    tasks = table(content, "per_task")
    if set(tasks) != set(SWAPS):
        raise ValueError(f"swapped_names has not the tasks {', '.join(SWAPS)}")
    return SwappedNames(
        percent(content, "plain_error"),
        percent(content, "swapped_error"),
        {
            task: (percent(each, "plain_error"), percent(each, "swapped_error"))
            for task, each in tasks.items()
        },
    )
