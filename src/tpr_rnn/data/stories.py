"""What the task of a run can be: a number, all of them, or an experiment with new names."""

from collections.abc import Collection
from pathlib import Path

from tpr_rnn.data.babi.directory import SPLITS
from tpr_rnn.data.babi.systematic import PLANS, TASKS, load_systematic
from tpr_rnn.data.corpus import Corpus, load_corpus, parse_task, survey
from tpr_rnn.data.simulator import TASK_TITLES
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
    tasks = TASKS if task in PLANS else [parse_task(task)]
    for each in tasks:
        if directory is not None:
            survey(directory, each, substitute_missing=task not in PLANS)
        elif each is not None and each not in TASK_TITLES:
            raise UserError(f"there is no task {each}; the simulator tells 1 to {len(TASK_TITLES)}")


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
