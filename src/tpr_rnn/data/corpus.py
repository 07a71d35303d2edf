"""The stories that a run works on, wherever they come from."""

import hashlib
import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tpr_rnn.data.babi.directory import SPLITS, find_files, missing_splits, read_task
from tpr_rnn.data.babi.format import format_story
from tpr_rnn.data.babi.substitutes import fillable, training_stories
from tpr_rnn.data.simulator import TASK_TITLES, generate
from tpr_rnn.data.story import Story
from tpr_rnn.errors import UserError, quoted

GENERATED = "generated"
"""The name of the stories that the simulator tells."""


def task_order(task: str) -> tuple[int, str]:
    """Tasks in their order: those whose names are numbers by number, then the others."""
    return (int(task), "") if task.isdigit() else (sys.maxsize, task)


class Combination(NamedTuple):
    """A new name in a task (systematic.py)."""

    name: str
    task: str
    trained: bool
    """Whether the training stories of the task have the name."""


@dataclass(frozen=True)
class Corpus:
    """Stories by task and split, with the knowledge of where they came from."""

    name: str
    """The directory's name, or 'generated'."""
    stories: dict[str, dict[str, list[Story]]]
    sha256: str
    """A checksum of the text of all tasks."""
    missing_files: dict[str, str]
    """Tasks that were wanted and cannot be had whole, and what they lack."""
    substituted: dict[str, str] = field(default_factory=dict)
    """Tasks whose training file is missing, and what they are trained on in its place."""

    combinations: dict[Combination, list[Story]] = field(default_factory=dict)
    """More test stories, of new names, where the experiment has such."""

    def all_stories(self) -> Iterable[Story]:
        """Every story of every task and split."""
        for splits in self.stories.values():
            for stories in splits.values():
                yield from stories
        for stories in self.combinations.values():
            yield from stories

    def questions(self, split: str) -> int:
        """How many questions a split has."""
        return sum(len(story.questions) for told in self.split(split).values() for story in told)

    def split(self, name: str) -> dict[str, list[Story]]:
        """One split of every task."""
        return {task: splits[name] for task, splits in self.stories.items()}


def parse_task(text: str) -> str | None:
    """The name of a task, which is its number, or None for all of them."""
    if text == "all":
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= 1):
        raise UserError(f"{quoted(text)} is no task; expected a number such as 1, or all")
    return str(int(text))


@dataclass(frozen=True)
class Survey:
    """What can be had of the tasks that are wanted in a directory."""

    files: dict[str, dict[str, Path]]
    whole: list[str]
    """Tasks that can be had."""
    substitutes: list[str]
    """Those of them that lack their training file, which generated stories replace."""
    missing_files: dict[str, str]
    """The other tasks, and what they lack."""


def survey(
    directory: Path,
    task: str | None,
    splits: Collection[str] = SPLITS,
    *,
    substitute_missing: bool = False,
) -> Survey:
    """Look for one task, or all (None), without reading them; to find none is an error."""
    files = find_files(directory)
    wanted = [task] if task is not None else sorted({*TASK_TITLES, *files}, key=task_order)
    substitutes: list[str] = []
    missing_files: dict[str, str] = {}
    for number in wanted:
        there = files.get(number, {})
        missing = [split for split in missing_splits(there) if split in splits]
        if missing and substitute_missing and fillable(number, there):
            substitutes.append(number)
        elif missing:
            missing_files[number] = f"no {' and no '.join(missing)} file"
    if task is not None and missing_files:
        hint = _FILL_HINT if fillable(task, files.get(task, {})) else ""
        raise UserError(
            f"{directory}: task {task} has {missing_files[task]} there "
            f"(such as qa{task}_{_first_gap(missing_files[task])}.txt){hint}"
        )
    whole = [number for number in wanted if number not in missing_files]
    if not whole:
        raise UserError(f"{directory}: no task there has all of {', '.join(splits)}")
    return Survey(files, whole, substitutes, missing_files)


def load_corpus(
    directory: Path | None,
    task: str | None,
    splits: Collection[str] = SPLITS,
    *,
    substitute_missing: bool = False,
) -> Corpus:
    """The stories of one task, or of all (None), from a directory or, without one, generated.

    With `substitute_missing` a task that lacks its training file alone has generated stories and
    those of the official 1k set, where that lies beside the directory, in its place.
    """
    if directory is None:
        return _generated(task, splits)
    found = survey(directory, task, splits, substitute_missing=substitute_missing)
    texts = [path.read_bytes() for number in found.whole for path in found.files[number].values()]
    there_is = [split for split in splits if split != "train"]
    stories: dict[str, dict[str, list[Story]]] = {}
    substituted: dict[str, str] = {}
    for number in found.whole:
        files = found.files[number]
        if number in found.substitutes:
            told, substituted[number] = training_stories(number, files, directory)
            texts.append("".join(map(format_story, told)).encode())
            stories[number] = {"train": told, **read_task(files, there_is)}
        else:
            stories[number] = read_task(files, splits)
    return Corpus(
        directory.resolve().name, stories, _checksum(texts), found.missing_files, substituted
    )


_FILL_HINT = "; with --substitute-missing it is trained on generated stories"


def _first_gap(lack: str) -> str:
    return lack.split()[1]


def _generated(task: str | None, splits: Collection[str]) -> Corpus:
    told = {number: generate(number) for number in (TASK_TITLES if task is None else [task])}
    texts = (
        "".join(map(format_story, stories[split])).encode()
        for stories in told.values()
        for split in SPLITS
    )
    kept = {
        number: {split: stories[split] for split in SPLITS if split in splits}
        for number, stories in told.items()
    }
    return Corpus(GENERATED, kept, _checksum(texts), missing_files={})


def _checksum(texts: Iterable[bytes]) -> str:
    """One checksum of several files, by those of each."""
    return hashlib.sha256(b"".join(hashlib.sha256(text).digest() for text in texts)).hexdigest()
