"""The list of tasks: each is a function that plays a scene, with what it needs for it."""

from collections.abc import Callable
from typing import NamedTuple

from tpr_rnn.data.simulator.options import Needs
from tpr_rnn.data.simulator.scene import Scene

Play = Callable[[Scene], None]


class Task(NamedTuple):
    """A task: what its files are called, what it needs, and how a story is told."""

    name: str
    """In bAbI the number of the task."""
    title: str
    needs: Needs
    play: Play


TASKS: dict[str, Task] = {}


def task(name: str, title: str, needs: Needs) -> Callable[[Play], Play]:
    """Enter the function below it in the list of tasks."""

    def enter(play: Play) -> Play:
        if name in TASKS:
            raise ValueError(f"task {name} is already there: {TASKS[name].title}")
        TASKS[name] = Task(name, title, needs, play)
        return play

    return enter
