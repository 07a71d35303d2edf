"""The data sets: whose files a directory holds, and the mixtures that have a name."""

from pathlib import Path

from tpr_rnn.data.babi.dataset import BABI
from tpr_rnn.data.dataset import ALL, DataSet, Files, Mixture
from tpr_rnn.data.own import OWN
from tpr_rnn.data.recall import RECALL
from tpr_rnn.errors import UserError
from tpr_rnn.files import check_directory

DATA_SETS = (
    BABI,
    OWN,
    RECALL,
)
"""A directory belongs to the first one that finds files in it."""

BUILT_IN = BABI
"""The one whose stories are generated where there is no directory."""


def find_data_set(directory: Path) -> tuple[DataSet, Files]:
    """Whose files a directory holds, and the files."""
    check_directory(directory, f"one with files such as {_examples()}")
    for data_set in DATA_SETS:
        if files := data_set.find(directory):
            _check_names(files)
            return data_set, files
    raise UserError(f"{directory}: no files such as {_examples()} in it{_hint(directory)}")


def find_mixture(task: str) -> Mixture | None:
    """The mixture of that name, if the task of a run is one."""
    for data_set in DATA_SETS:
        if task in data_set.mixtures:
            return data_set.mixtures[task]
    return None


def is_one(task: str) -> bool:
    """Whether the task of a run is one task, not several."""
    return task != ALL and find_mixture(task) is None


def _examples() -> str:
    return " or ".join(data_set.example for data_set in DATA_SETS if data_set.example)


def _check_names(files: Files) -> None:
    """Refuse tasks whose names stand for something else."""
    for task, by_split in files.items():
        if not is_one(task):
            path = next(iter(by_split.values()))
            raise UserError(f"{path}: {task} is no name for a task, for it stands for several")


def _hint(directory: Path) -> str:
    """What may have been meant: a folder below that has files, or a file without a split."""
    below = sorted(
        path.name
        for path in directory.iterdir()
        if path.is_dir() and any(data_set.find(path) for data_set in DATA_SETS)
    )
    if below:
        return f"; choose one of its folders: {', '.join(below)}"
    texts = sorted(path for path in directory.glob("*.txt"))
    if texts:
        return f"; {texts[0].name} would be found as {texts[0].stem}_train.txt"
    return ""
