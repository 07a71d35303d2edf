"""What the task of a run can be: a number, all of them, an experiment, or wide stories."""

from collections.abc import Collection
from pathlib import Path

from tpr_rnn.data.babi.directory import SPLITS
from tpr_rnn.data.babi.systematic import PLANS, TASKS, load_systematic
from tpr_rnn.data.corpus import Corpus, load_corpus, parse_task, survey
from tpr_rnn.data.simulator import TASK_TITLES
from tpr_rnn.data.wide import ALL_AND_WIDE, SOURCES, WIDE, load_wide
from tpr_rnn.errors import UserError


def check_task(task: str) -> None:
    """Refuse what is no task."""
    if task in (*PLANS, *SOURCES):
        return
    try:
        parse_task(task)
    except UserError as error:
        raise UserError(f"{error}, or {', or '.join((*PLANS, *SOURCES))}") from None


def check_there_is(directory: Path | None, task: str) -> None:
    """Refuse a task that cannot be had, without reading its stories."""
    if task == WIDE:
        if directory is not None:
            raise UserError("the task wide is generated; leave --data out, or train all+wide")
        return
    tasks = TASKS if task in PLANS else [None if task == ALL_AND_WIDE else parse_task(task)]
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
    if task in SOURCES:
        return load_wide(directory, task, splits, substitute_missing=substitute_missing)
    return load_corpus(directory, parse_task(task), splits, substitute_missing=substitute_missing)
