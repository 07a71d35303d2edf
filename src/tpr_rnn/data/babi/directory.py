"""Find a task's files in any official layout of the bAbI archive.

    en-valid, en-valid-10k                                      qa1_train.txt, qa1_valid.txt, ...
    en, en-10k, hn, hn-10k, shuffled, shuffled-10k              qa1_single-supporting-fact_train.txt

The second kind has no validation files: the last tenth of the training stories serves.
"""

import re
from collections.abc import Collection
from pathlib import Path

from tpr_rnn.data.babi.format import read_stories
from tpr_rnn.data.story import Story
from tpr_rnn.errors import UserError
from tpr_rnn.files import check_directory

SPLITS = ("train", "valid", "test")

_FILE_NAME = re.compile(r"qa([1-9][0-9]*)(?:_.+)?_(train|valid|test)\.txt")


def find_files(directory: Path) -> dict[str, dict[str, Path]]:
    """The files in a directory, by task and split, in the order of the tasks."""
    check_directory(directory, "one with bAbI files such as qa1_train.txt")
    found: dict[str, dict[str, Path]] = {}
    for path in sorted(directory.iterdir()):
        match = _FILE_NAME.fullmatch(path.name)
        if match is None or not path.is_file():
            continue
        task, split = match[1], match[2]
        other = found.setdefault(task, {}).setdefault(split, path)
        if other != path:
            raise UserError(
                f"{directory}: {other.name} and {path.name} are both the {split} file of "
                f"task {task}; keep one of them"
            )
    if not found:
        raise UserError(
            f"{directory}: no bAbI file (such as qa1_train.txt) in it{_hint(directory)}"
        )
    return dict(sorted(found.items(), key=lambda item: int(item[0])))


def missing_splits(files: dict[str, Path]) -> list[str]:
    """The splits that a task's files cannot give (the valid split can come from train)."""
    return [
        split
        for split in SPLITS
        if split not in files and not (split == "valid" and "train" in files)
    ]


def read_task(files: dict[str, Path], splits: Collection[str] = SPLITS) -> dict[str, list[Story]]:
    """Read the wanted splits of one task."""
    shared = "valid" not in files and not {"train", "valid"}.isdisjoint(splits)
    stories: dict[str, list[Story]] = {}
    if shared:
        told = read_stories(files["train"])
        held_out = max(1, len(told) // 10)
        stories["train"], stories["valid"] = told[:-held_out], told[-held_out:]
    for split in splits:
        if split not in stories:
            stories[split] = read_stories(files[split])
    for split in splits:
        if not any(story.questions for story in stories[split]):
            source = files["train" if shared and split != "test" else split]
            raise UserError(f"{source}: too short; there is no question for the {split} split")
    return {split: stories[split] for split in SPLITS if split in splits}


def _hint(directory: Path) -> str:
    """Point at the folders below that do hold files, as when the archive's root is given."""
    below = sorted(
        path.name
        for path in directory.iterdir()
        if path.is_dir() and any(_FILE_NAME.fullmatch(inner.name) for inner in path.iterdir())
    )
    return f"; choose one of its folders: {', '.join(below)}" if below else ""
