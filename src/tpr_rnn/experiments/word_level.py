"""The word-level TPR-RNN: a model for each task, and one for all tasks."""

from dataclasses import replace

from tpr_rnn.errors import UserError
from tpr_rnn.experiments.grid import Job, Request
from tpr_rnn.training.presets import DEFAULT

SINGLE, ALL = "word-single", "word-all"


def word_level(request: Request) -> list[Job]:
    """One model for each task and seed, and one of all tasks for each seed.

    Where only some tasks are asked for there is none of all.
    """
    if request.preset != DEFAULT:
        raise UserError(f"word-level has two presets, {SINGLE} and {ALL}; leave out --preset")
    jobs = replace(request, preset=SINGLE).jobs(request.single_tasks())
    if not request.tasks:
        jobs += replace(request, preset=ALL).jobs(["all"])
    return jobs
