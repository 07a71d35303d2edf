"""Your own data: files in bAbI's format, named NAME_train.txt, NAME_valid.txt and NAME_test.txt.

NAME is the name of a task, and a directory may have several. Without a valid file the last tenth
of the training stories serves; without a test file a model can be trained, but not tested.
"""

import re
from pathlib import Path

from tpr_rnn.data.babi.format import read_stories
from tpr_rnn.data.dataset import DataSet, Files

_FILE_NAME = re.compile(r"(?P<task>.+)_(?P<split>train|valid|test)\.txt")


def find_files(directory: Path) -> Files:
    """The files of each task, the tasks by name."""
    found: dict[str, dict[str, Path]] = {}
    for path in sorted(directory.iterdir()):
        match = _FILE_NAME.fullmatch(path.name)
        if match is not None and path.is_file():
            found.setdefault(match["task"], {})[match["split"]] = path
    return found


OWN = DataSet(name="own", example="NAME_train.txt", find=find_files, read=read_stories)
