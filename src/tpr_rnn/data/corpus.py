"""The stories that a run works on, wherever they come from."""

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tpr_rnn.data.babi import Story, format_story
from tpr_rnn.data.directory import SPLITS, find_files, missing_splits, read_task
from tpr_rnn.data.gaps import fillable, training_stories
from tpr_rnn.data.simulator import TASK_NAMES, generate
from tpr_rnn.errors import UserError

GENERATED = "generated"
"""The name of the stories that the simulator tells."""


class Combination(NamedTuple):
    """A new name in a task (systematic.py)."""

    name: str
    task: int
    trained: bool
    """Whether the training stories of the task have the name."""


@dataclass(frozen=True)
class Corpus:
    """Stories by task and split, with the knowledge of where they came from."""

    name: str
    """The directory's name, or 'generated'."""
    stories: dict[int, dict[str, list[Story]]]
    sha256: str
    """A checksum of the text of all tasks."""
    lacking: dict[int, str]
    """Tasks that were wanted and cannot be had whole, and what they lack."""
    filled: dict[int, str] = field(default_factory=dict)
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

    def split(self, name: str) -> dict[int, list[Story]]:
        """One split of every task."""
        return {task: splits[name] for task, splits in self.stories.items()}


def parse_task(text: str) -> int | None:
    """The number of a task, or None for all of them."""
    if text == "all":
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= 1):
        raise UserError(f"'{text}' is no task; expected a number such as 1, or all")
    return int(text)


@dataclass(frozen=True)
class Survey:
    """What can be had of the tasks that are wanted in a directory."""

    files: dict[int, dict[str, Path]]
    whole: list[int]
    """Tasks that can be had."""
    gaps: list[int]
    """Those of them that lack their training file, which generated stories replace."""
    lacking: dict[int, str]
    """The other tasks, and what they lack."""


def survey(
    directory: Path, task: int | None, splits: Collection[str] = SPLITS, *, fill_gaps: bool = False
) -> Survey:
    """Look for one task, or all (None), without reading them; to find none is an error."""
    files = find_files(directory)
    wanted = list(range(1, 21)) if task is None else [task]
    if task is None:
        wanted += [number for number in files if number > 20]
    gaps: list[int] = []
    lacking: dict[int, str] = {}
    for number in wanted:
        there = files.get(number, {})
        missing = [split for split in missing_splits(there) if split in splits]
        if missing and fill_gaps and fillable(number, there):
            gaps.append(number)
        elif missing:
            lacking[number] = f"no {' and no '.join(missing)} file"
    if task is not None and lacking:
        hint = _FILL_HINT if fillable(task, files.get(task, {})) else ""
        raise UserError(
            f"{directory}: task {task} has {lacking[task]} there "
            f"(such as qa{task}_{_first_gap(lacking[task])}.txt){hint}"
        )
    whole = [number for number in wanted if number not in lacking]
    if not whole:
        raise UserError(f"{directory}: no task there has all of {', '.join(splits)}")
    return Survey(files, whole, gaps, lacking)


def load_corpus(
    directory: Path | None,
    task: int | None,
    splits: Collection[str] = SPLITS,
    *,
    fill_gaps: bool = False,
) -> Corpus:
    """The stories of one task, or of all (None), from a directory or, without one, generated.

    With `fill_gaps` a task that lacks its training file alone is trained on generated stories, and
    on those of the official 1k set where it lies beside the directory.
    """
    if directory is None:
        return _generated(task, splits)
    found = survey(directory, task, splits, fill_gaps=fill_gaps)
    texts = [path.read_bytes() for number in found.whole for path in found.files[number].values()]
    there_is = [split for split in splits if split != "train"]
    stories: dict[int, dict[str, list[Story]]] = {}
    filled: dict[int, str] = {}
    for number in found.whole:
        files = found.files[number]
        if number in found.gaps:
            told, filled[number] = training_stories(number, files, directory)
            texts.append("".join(map(format_story, told)).encode())
            stories[number] = {"train": told, **read_task(files, there_is)}
        else:
            stories[number] = read_task(files, splits)
    return Corpus(directory.resolve().name, stories, _checksum(texts), found.lacking, filled)


_FILL_HINT = "; with --fill-gaps it is trained on generated stories"


def _first_gap(lack: str) -> str:
    return lack.split()[1]


def _generated(task: int | None, splits: Collection[str]) -> Corpus:
    told = {number: generate(number) for number in (TASK_NAMES if task is None else [task])}
    texts = (
        "".join(map(format_story, stories[split])).encode()
        for stories in told.values()
        for split in SPLITS
    )
    kept = {
        number: {split: stories[split] for split in SPLITS if split in splits}
        for number, stories in told.items()
    }
    return Corpus(GENERATED, kept, _checksum(texts), lacking={})


def _checksum(texts: Iterable[bytes]) -> str:
    """One checksum of several files, by those of each."""
    return hashlib.sha256(b"".join(hashlib.sha256(text).digest() for text in texts)).hexdigest()
