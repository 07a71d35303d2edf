"""A task's files in any official layout of the bAbI archive.

    en-valid, en-valid-10k                                      qa1_train.txt, qa1_valid.txt, ...
    en, en-10k, hn, hn-10k, shuffled, shuffled-10k              qa1_single-supporting-fact_train.txt

The second kind has no validation files: the last tenth of the training stories serves.
"""

import re
from pathlib import Path

from tpr_rnn.data.dataset import Files
from tpr_rnn.errors import UserError

_FILE_NAME = re.compile(r"qa(?P<task>[1-9][0-9]*)(?:_.+)?_(?P<split>train|valid|test)\.txt")


def file_name(task: str, split: str) -> str:
    """The file of a task and split in the layouts with validation files."""
    return f"qa{task}_{split}.txt"


def find_files(directory: Path) -> Files:
    """The files in a directory, by task and split, in the order of the tasks."""
    found: dict[str, dict[str, Path]] = {}
    for path in sorted(directory.iterdir()):
        match = _FILE_NAME.fullmatch(path.name)
        if match is None or not path.is_file():
            continue
        task, split = match["task"], match["split"]
        other = found.setdefault(task, {}).setdefault(split, path)
        if other != path:
            raise UserError(
                f"{directory}: {other.name} and {path.name} are both the {split} file of "
                f"task {task}; keep one of them"
            )
    return dict(sorted(found.items(), key=lambda item: int(item[0])))
