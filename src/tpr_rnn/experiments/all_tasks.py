"""Table 1 and appendix B of the paper: one model for all tasks."""

from tpr_rnn.experiments.grid import Job, Request


def all_tasks(request: Request) -> list[Job]:
    """One model of all tasks for each seed."""
    return request.jobs(["all"])
