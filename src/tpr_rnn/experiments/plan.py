"""An experiment on disk: the configuration of every run, for whatever starts them."""

from collections.abc import Sequence

from tpr_rnn.experiments.finished import records_there
from tpr_rnn.experiments.grid import Job
from tpr_rnn.experiments.launcher import unfinished
from tpr_rnn.training.run_directory import RunDirectory


def write_plan(jobs: Sequence[Job]) -> list[Job]:
    """Write the configurations of jobs into their directories; return those that are to be run.

    The longest come first. A job that was begun or planned before keeps its configuration, which
    must be the same.
    """
    left = unfinished(jobs, records_there(jobs))
    for job in left:
        there = RunDirectory(job.directory)
        if not there.started:
            there.begin(job.config.as_json())
    return left
