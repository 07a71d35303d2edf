"""What the task of a run can be: a number, all of them, or an experiment with new names."""

from collections.abc import Collection
from pathlib import Path

from tpr_rnn.data.corpus import Corpus, load_corpus, parse_task, survey
from tpr_rnn.data.directory import SPLITS
from tpr_rnn.data.simulator import TASK_NAMES
from tpr_rnn.data.systematic import PLANS, TASKS, load_systematic
from tpr_rnn.errors import UserError


def check_task(task: str) -> None:
    """Refuse what is no task."""
    if task in PLANS:
        return
    try:
        parse_task(task)
    except UserError as error:
        raise UserError(f"{error}, or {', or '.join(PLANS)}") from None


def check_there_is(directory: Path | None, task: str) -> None:
    """Refuse a task that cannot be had, without reading its stories."""
    numbers = TASKS if task in PLANS else [parse_task(task)]
    for number in numbers:
        if directory is not None:
            survey(directory, number, substitute_missing=task not in PLANS)
        elif number is not None and number not in TASK_NAMES:
            raise UserError(
                f"there is no task {number}; the simulator tells 1 to {max(TASK_NAMES)}"
            )


def load_stories(
    directory: Path | None,
    task: str,
    splits: Collection[str] = SPLITS,
    *,
    substitute_missing: bool = False,
) -> Corpus:
    """The stories of a task, from a directory or, without one, generated."""
    if task in PLANS:
        return load_systematic(directory, task, splits)
    return load_corpus(directory, parse_task(task), splits, substitute_missing=substitute_missing)
