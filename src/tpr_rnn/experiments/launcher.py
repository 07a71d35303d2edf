"""Many runs on local processes: finished ones are skipped, failed ones recorded."""

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from pathlib import Path

from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.record import RunRecord
from tpr_rnn.experiments.finished import records_there
from tpr_rnn.experiments.forecast import typical
from tpr_rnn.experiments.grid import Job
from tpr_rnn.experiments.worker import (
    Began,
    Event,
    Finished,
    Progressed,
    record_failure,
    work,
)
from tpr_rnn.files import make_directory

_ATTENTION_SECONDS = 0.2
"""How often the launcher checks whether it should stop."""


def launch(
    jobs: Sequence[Job], workers: int, stop: Callable[[], bool] = lambda: False
) -> Generator[Event, None, None]:
    """Run jobs on a number of processes, the longest first, and report on them.

    A job that is finished already is not run again, one that was interrupted goes on, and one that
    fails is recorded beside its run and does not hold up the others. When `stop` returns True,
    whatever is running is saved, and the events end. What cannot be run is an error before any
    event.
    """
    if workers < 1:
        raise UserError(f"--workers must be 1 or more, not {workers}")
    for job in jobs:
        make_directory(job.directory.parent)
    return _launch(jobs, records_there(jobs), workers, stop)


def _launch(
    jobs: Sequence[Job],
    there: Mapping[Path, RunRecord],
    workers: int,
    stop: Callable[[], bool],
) -> Generator[Event, None, None]:
    for job in jobs:
        if job.directory in there:
            yield Finished(job, there[job.directory], before=True)
    left = [job for job in jobs if job.directory not in there]
    waiting = deque(sorted(left, key=lambda job: typical(job.config.task), reverse=True))
    crew = [_Worker() for _ in range(min(workers, len(waiting)))]
    try:
        yield from _direct(crew, waiting, stop)
    finally:
        for worker in crew:
            worker.dismiss()
        for worker in crew:
            worker.process.join()


def _direct(
    crew: list["_Worker"], waiting: deque[Job], stop: Callable[[], bool]
) -> Iterator[Event]:
    stopping = False
    while True:
        if not stopping and stop():
            stopping = True
            waiting.clear()
            for worker in crew:
                worker.dismiss()
        for worker in crew:
            if worker.job is None and waiting:
                yield Began(worker.begin(waiting.popleft()))
        busy = [worker for worker in crew if worker.job is not None]
        if not busy:
            return
        ready = wait([worker.connection for worker in busy], timeout=_ATTENTION_SECONDS)
        for worker in busy:
            if worker.connection in ready:
                yield worker.hear()
            if worker.gone and waiting:
                crew[crew.index(worker)] = _Worker()


class _Worker:
    """A worker process, seen from outside."""

    def __init__(self) -> None:
        # A fresh interpreter: torch's threads do not survive a fork.
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs,))
        self.job: Job | None = None
        self.gone = False
        with _deaf_children():
            self.process.start()
        theirs.close()

    def begin(self, job: Job) -> Job:
        """Give it a job."""
        self.job = job
        with suppress(OSError):  # a dead worker is noticed when its message is read
            self.connection.send(job)
        return job

    def hear(self) -> Event:
        """Its next message; if it died, the failure of its job."""
        assert self.job is not None
        try:
            event: Event = self.connection.recv()
        except (EOFError, OSError):
            self.gone = True
            self.process.join()
            code = self.process.exitcode
            event = record_failure(self.job, f"the process of the run died (exit code {code})")
        if not isinstance(event, Progressed):
            self.job = None
        return event

    def dismiss(self) -> None:
        """Let it save what it does, and end."""
        with suppress(OSError):
            self.connection.send(None)


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Processes that are started meanwhile ignore Ctrl-C: the launcher tells them to stop.

    A terminal sends it to all of them, and a process that dies of it saves nothing.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    # multiprocessing's resource tracker: started later, it would undo this.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(
        signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    )
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
