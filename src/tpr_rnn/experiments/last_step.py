"""The last step of an experiment, when all its runs are finished: test errors and records."""

from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path

from tpr_rnn.evaluation.reading import read_run
from tpr_rnn.evaluation.record import RunRecord, encode_record, read_lines
from tpr_rnn.experiments.grid import Job, place_of
from tpr_rnn.experiments.worker import Tested
from tpr_rnn.files import make_directory, write_atomically
from tpr_rnn.training.final_test import score_test


def score_tests(
    jobs: Sequence[Job], command: str, stop: Callable[[], bool] = lambda: False
) -> Generator[Tested, None, None]:
    """Score the test questions of finished runs, each once, until `stop` returns True."""
    for job in jobs:
        if stop():
            return
        yield Tested(job, score_test(job.directory, command))


def keep_record(job: Job, path: Path, command: str) -> Tested:
    """Score the test questions of a finished run, and keep its record in a file of them.

    For runs whose directories do not stay: the file alone then says that they are finished.
    """
    tested = Tested(job, score_test(job.directory, command))
    make_directory(path.parent)
    kept = {place_of(record): record for record in (read_lines(path) if path.exists() else ())}
    kept[job.place] = read_run(job.directory)
    write_atomically(path, _lines(kept.values()))
    return tested


def gather_records(jobs: Sequence[Job], path: Path) -> None:
    """Write the records of finished runs into one file, a line each, with their curves."""
    write_atomically(path, _lines(read_run(job.directory) for job in jobs))


def _lines(records: Iterable[RunRecord]) -> bytes:
    return b"".join(encode_record(record) + b"\n" for record in records)
