"""An experiment on disk: the configuration of every run, for whatever starts them."""

from collections.abc import Sequence
from pathlib import Path

from tpr_rnn.experiments.finished import records_there
from tpr_rnn.experiments.grid import Job
from tpr_rnn.experiments.launcher import unfinished
from tpr_rnn.training.run_directory import RunDirectory


def write_plan(jobs: Sequence[Job], kept: Path | None = None) -> list[Job]:
    """Write the configurations of jobs into their directories; return those that are to be run.

    The longest come first. A job that was begun or planned before keeps its configuration, which
    must be the same. `kept` is a file with the records of jobs that were finished elsewhere.
    """
    left = unfinished(jobs, records_there(jobs, kept))
    for job in left:
        there = RunDirectory(job.directory)
        if not there.started:
            there.check_free()
            there.begin(job.config.as_json())
    return left
