"""The list of tasks: each is a function that plays a scene, with what it needs for it."""

from collections.abc import Callable
from typing import NamedTuple

from tpr_rnn.data.simulator.options import Needs
from tpr_rnn.data.simulator.scene import Scene

Play = Callable[[Scene], None]


class Task(NamedTuple):
    """A task: the number and name of its files, what it needs, and how a story is told."""

    number: int
    name: str
    needs: Needs
    play: Play


TASKS: dict[int, Task] = {}


def task(number: int, name: str, needs: Needs) -> Callable[[Play], Play]:
    """Enter the function below it in the list of tasks."""

    def enter(play: Play) -> Play:
        if number in TASKS:
            raise ValueError(f"task {number} is already there: {TASKS[number].name}")
        TASKS[number] = Task(number, name, needs, play)
        return play

    return enter
