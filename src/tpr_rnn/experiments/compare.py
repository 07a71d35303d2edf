"""The systems that the paper compares with, under one protocol (its Tables 1 and 2, Figures 3, 5).

By their presets. `--preset` runs one system alone, wherever it takes part.
"""

from collections.abc import Sequence
from dataclasses import replace

from tpr_rnn.errors import UserError, quoted
from tpr_rnn.experiments.grid import Job, Request
from tpr_rnn.training.presets import DEFAULT

SINGLE = ("single", "memn2n", "memn2n-large", "dmn", "entnet", "word-lstm")
"""A model for each task."""
JOINT = (
    "all",
    "memn2n-all",
    "entnet-all",
    "word-lstm-all",
    "dnc-all",
    "dnc-small-all",
    "sdnc-all",
)
"""One model for all tasks."""
NAMES = ("systematic", "memn2n-all", "entnet-all", "sdnc-all")
"""New names: one model for the tasks of the paper's experiment."""


def compare(request: Request) -> list[Job]:
    """A run of each system for each task and seed, of all tasks, and with new names.

    Where only some tasks are asked for, those alone.
    """
    known = dict.fromkeys((*SINGLE, *JOINT, *NAMES))
    if request.preset not in (DEFAULT, *known):
        raise UserError(
            f"compare has no system {quoted(request.preset)}; there are {', '.join(known)}"
        )
    parts: list[tuple[str, Sequence[str], Sequence[str]]]
    parts = [("single-task", SINGLE, request.single_tasks())]
    if not request.tasks:
        parts += [("all-tasks", JOINT, ("all",)), ("new-names", NAMES, ("systematic",))]
    return [
        job
        for place, presets, tasks in parts
        for preset in presets
        if request.preset in (DEFAULT, preset)
        for job in replace(request, out=request.out / place, preset=preset).jobs(tasks)
    ]
