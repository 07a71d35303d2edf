"""A simulator that tells stories of all 20 bAbI tasks, as the official data do.

    from tpr_rnn.data import simulator

    simulator.tell("1", seed=0)                    # one story
    simulator.generate("1", questions=10_000)      # {"train": [...], "valid": [...], "test": [...]}
    simulator.generate("2", options=simulator.StoryOptions(names=("Ann", "Bob"), story_length=100))
    simulator.generate("wide-things")              # stories without official habits: wide/

A task is a function in `simulator/tasks/` that plays a scene: it lets things happen in a small
world, tells them in English, and asks what a listener can know from what was told.
"""

import random

from tpr_rnn.data.simulator.options import Cast, StoryOptions, resolve
from tpr_rnn.data.simulator.registry import Task
from tpr_rnn.data.simulator.splits import generate_splits, tell_story
from tpr_rnn.data.simulator.tasks import TASKS
from tpr_rnn.data.simulator.wide import WIDE_TASKS
from tpr_rnn.data.story import Story
from tpr_rnn.errors import UserError

__all__ = ["TASK_TITLES", "StoryOptions", "generate", "tell"]

TASK_TITLES: dict[str, str] = {
    each.name: each.title for each in sorted(TASKS.values(), key=lambda task: int(task.name))
}

_OFFICIAL = StoryOptions()


def tell(task: str, *, seed: int, options: StoryOptions = _OFFICIAL) -> Story:
    """Tell one story of a task; the same seed tells the same story, in every process."""
    definition, cast = _prepare(task, seed, options)
    return tell_story(definition, cast, random.Random(f"task {task}, seed {seed}"))


def generate(
    task: str, *, questions: int = 10_000, seed: int = 0, options: StoryOptions = _OFFICIAL
) -> dict[str, list[Story]]:
    """Tell a data set in the official layout: keys "train", "valid" and "test".

    A tenth of `questions` (rounded up) is for validation, the rest for training; the test set
    has 1,000 questions more, the same ones for any number of `questions`. No story stands in two
    sets, not even of different seeds, unless a task (with these options) has too few for that.
    Stories of a length that was wished for stay whole, so that there may be some questions more.
    """
    definition, cast = _prepare(task, seed, options)
    if questions < 2:
        raise UserError(
            f"questions must be 2 or more (one to train on, one to validate on), not {questions}"
        )
    return generate_splits(definition, cast, questions, seed)


def _prepare(task: str, seed: int, options: StoryOptions) -> tuple[Task, Cast]:
    if seed < 0:
        raise UserError(f"the seed must be 0 or more, not {seed}")
    definition = TASKS.get(task) or WIDE_TASKS.get(task)
    if definition is None:
        raise UserError(
            f"there is no task {task}; the tasks are 1 to {len(TASKS)}, and {', '.join(WIDE_TASKS)}"
        )
    return definition, resolve(options, definition.needs, f"task {task} ({definition.title})")
