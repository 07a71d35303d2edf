"""The last step of an experiment, when all its runs are finished: test errors and records."""

from collections.abc import Callable, Generator, Sequence
from pathlib import Path

from tpr_rnn.evaluation.reading import read_run
from tpr_rnn.evaluation.record import encode_record
from tpr_rnn.experiments.grid import Job
from tpr_rnn.experiments.worker import Tested
from tpr_rnn.files import write_atomically
from tpr_rnn.training.final_test import score_test


def score_tests(
    jobs: Sequence[Job], command: str, stop: Callable[[], bool] = lambda: False
) -> Generator[Tested, None, None]:
    """Score the test questions of finished runs, each once, until `stop` returns True."""
    for job in jobs:
        if stop():
            return
        yield Tested(job, score_test(job.directory, command))


def gather_records(jobs: Sequence[Job], path: Path) -> None:
    """Write the records of finished runs into one file, a line each, with their curves."""
    lines = [encode_record(read_run(job.directory)) + b"\n" for job in jobs]
    write_atomically(path, b"".join(lines))
