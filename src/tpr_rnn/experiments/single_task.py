"""Table 2 of the paper: a model for each task."""

from tpr_rnn.experiments.grid import Job, Request


def single_task(request: Request) -> list[Job]:
    """One model a task, all with the same settings."""
    return request.jobs(request.single_tasks())
