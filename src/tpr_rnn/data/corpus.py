"""The stories that a run works on, wherever they come from."""

import hashlib
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from tpr_rnn.data.babi.format import format_story
from tpr_rnn.data.dataset import (
    ALL,
    GENERATED,
    SPLITS,
    Corpus,
    DataSet,
    Files,
    Mixture,
    Source,
    Splits,
)
from tpr_rnn.data.registry import BUILT_IN, find_data_set, find_mixture
from tpr_rnn.data.splits import missing_splits, read_splits
from tpr_rnn.errors import UserError, quoted

TRAINING = ("train", "valid")
"""The splits that training needs: the test questions are for the end."""


def task_order(task: str) -> tuple[tuple[int, str], ...]:
    """Names of tasks in alphabetical order, but the numbers in them as numbers: 2 before 10."""
    parts = re.findall(r"([0-9]+)|([^0-9]+)", task)
    return tuple((int(number or 0), text) for number, text in parts)


def check_there_is(directory: Path | None, task: str) -> None:
    """Refuse a task that cannot be trained and tested, without reading its stories."""
    mixture = find_mixture(task)
    if mixture is not None and not mixture.tasks and directory is not None:
        raise UserError(
            f"the task {task} is generated; leave --data out, or take one such as all+wide"
        )
    for each in [task] if mixture is None else mixture.tasks:
        if directory is None:
            _check_generated(each)
        else:
            survey(directory, each, SPLITS, substitute=mixture is None or mixture.substitutes)


def load_corpus(
    directory: Path | None,
    task: str,
    splits: Collection[str] = SPLITS,
    *,
    needed: Collection[str] | None = None,
) -> Corpus:
    """The stories of a task from a directory or, without one, generated.

    Args:
        directory: files of a data set (`registry.py`).
        task: a task, all of them, or the name of a mixture.
        splits: those that are wanted.
        needed: those of them that a task must have; None: all.
    """
    needed = splits if needed is None else needed
    mixture = find_mixture(task)
    if mixture is not None:
        return _mixed(mixture, directory, splits)
    if directory is None:
        return _generated(task, splits)
    return _read(survey(directory, task, needed), directory, splits)


@dataclass(frozen=True)
class Survey:
    """What can be had of the tasks that are wanted in a directory."""

    data_set: DataSet
    files: Files
    whole: list[str]
    """Tasks that can be had."""
    substituted: list[str]
    """Those of them that lack their training file, which other stories replace."""
    missing_files: dict[str, str]
    """The other tasks, and what they lack."""


def survey(
    directory: Path, task: str, needed: Collection[str], *, substitute: bool = True
) -> Survey:
    """Look for one task, or all, without reading them; to find none is an error.

    Of all tasks, those that are not there at all are left out. But to train on a task that has
    files, and not the one to train on, is refused unless there is a substitute for that.
    """
    data_set, files = find_data_set(directory)
    if task not in (ALL, *files):
        raise UserError(f"{directory}: no file of task {quoted(task)}; there are {_names(files)}")
    substitutes = data_set.substitutes if substitute else None
    substituted: list[str] = []
    missing_files: dict[str, str] = {}
    for name in data_set.in_order(files) if task == ALL else [task]:
        there = files.get(name, {})
        missing = missing_splits(there, needed)
        if missing and substitutes is not None and substitutes.serve(name, there):
            substituted.append(name)
        elif missing:
            missing_files[name] = f"no {' and no '.join(missing)} file"
            if there and (task != ALL or "train" in needed):
                split, path = next(iter(there.items()))
                example = path.name.replace(split, missing[0])
                raise UserError(
                    f"{directory}: task {name} has {missing_files[name]} there (such as {example})"
                )
    whole = [name for name in data_set.in_order(files) if task in (ALL, name)]
    whole = [name for name in whole if name not in missing_files]
    if not whole:
        raise UserError(f"{directory}: no task there has all of {', '.join(needed)}")
    return Survey(data_set, files, whole, substituted, missing_files)


def _read(found: Survey, directory: Path, splits: Collection[str]) -> Corpus:
    texts = [path.read_bytes() for task in found.whole for path in found.files[task].values()]
    stories: dict[str, Splits] = {}
    substituted: dict[str, str] = {}
    for task in found.whole:
        files = found.files[task]
        there = [split for split in splits if not missing_splits(files, [split])]
        stories[task] = read_splits(files, there, found.data_set.read)
        if task in found.substituted and found.data_set.substitutes is not None:
            told, substituted[task] = found.data_set.substitutes.make(task, files)
            texts.append("".join(map(format_story, told)).encode())
            if "train" in splits:
                stories[task] = {"train": told, **stories[task]}
    return Corpus(
        directory.resolve().name,
        found.data_set,
        stories,
        _checksum(texts),
        found.missing_files,
        substituted,
    )


def _mixed(mixture: Mixture, directory: Path | None, splits: Collection[str]) -> Corpus:
    def load(task: str, splits: Collection[str]) -> Corpus:
        if directory is None:
            return _generated(task, splits)
        found = survey(directory, task, splits, substitute=mixture.substitutes)
        return _read(found, directory, splits)

    data_set = BUILT_IN if directory is None else find_data_set(directory)[0]
    return mixture.mix(Source(data_set, str(directory or GENERATED), load), splits)


def _generated(task: str, splits: Collection[str]) -> Corpus:
    _check_generated(task)
    assert BUILT_IN.generate is not None
    told = {name: BUILT_IN.generate(name) for name in (BUILT_IN.tasks if task == ALL else [task])}
    texts = (
        "".join(map(format_story, stories[split])).encode()
        for stories in told.values()
        for split in SPLITS
    )
    kept = {
        name: {split: stories[split] for split in SPLITS if split in splits}
        for name, stories in told.items()
    }
    return Corpus(GENERATED, BUILT_IN, kept, _checksum(texts), missing_files={})


def _check_generated(task: str) -> None:
    if task != ALL and task not in BUILT_IN.tasks:
        names = _names(BUILT_IN.tasks, *BUILT_IN.mixtures)
        raise UserError(f"there is no task {quoted(task)}; without --data there are {names}")


def _names(tasks: Iterable[str], *mixtures: str) -> str:
    return f"{', '.join(tasks)} (and {', '.join((ALL, *mixtures))})"


def _checksum(texts: Iterable[bytes]) -> str:
    """One checksum of several files, by those of each."""
    return hashlib.sha256(b"".join(hashlib.sha256(text).digest() for text in texts)).hexdigest()
