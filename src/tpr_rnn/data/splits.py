"""The splits of a task from its files."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from tpr_rnn.data.dataset import SPLITS, Splits
from tpr_rnn.data.story import Story
from tpr_rnn.errors import UserError


def missing_splits(files: Mapping[str, Path], wanted: Collection[str] = SPLITS) -> list[str]:
    """The wanted splits that a task's files cannot give (the valid split can come from train)."""
    return [
        split
        for split in SPLITS
        if split in wanted and split not in files and not (split == "valid" and "train" in files)
    ]


def read_splits(
    files: Mapping[str, Path], splits: Collection[str], read: Callable[[Path], list[Story]]
) -> Splits:
    """Read the wanted splits of one task.

    Without a file for validation the last tenth of the training stories serves.
    """
    shared = "valid" not in files and not {"train", "valid"}.isdisjoint(splits)
    stories: Splits = {}
    if shared:
        told = read(files["train"])
        held_out = max(1, len(told) // 10)
        stories["train"], stories["valid"] = told[:-held_out], told[-held_out:]
    for split in splits:
        if split not in stories:
            stories[split] = read(files[split])
    for split in splits:
        if not any(story.questions for story in stories[split]):
            source = files["train" if shared and split != "test" else split]
            raise UserError(f"{source}: too short; there is no question for the {split} split")
    return {split: stories[split] for split in SPLITS if split in splits}
