"""Jobs on processes of this machine."""

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from pathlib import Path

from tpr_rnn.errors import UserError
from tpr_rnn.experiments.grid import Job
from tpr_rnn.experiments.launcher import Launcher, Stop
from tpr_rnn.experiments.worker import (
    Began,
    Event,
    Failed,
    Interrupted,
    Progressed,
    Warned,
    record_failure,
    work,
)

_ATTENTION_SECONDS = 0.2
"""How often the launcher checks whether it should stop."""


class LocalProcesses(Launcher):
    """So many processes, each with a number of threads."""

    def __init__(self, workers: int | None = None, threads: int = 1) -> None:
        """Take as many processes as there are cores for, where no number is given."""
        cores = _cores()
        if threads > cores:
            raise UserError(f"--threads must be from 1 to {cores} on this machine, not {threads}")
        self.at_a_time = max(cores // threads, 1) if workers is None else workers
        self.threads = threads
        if self.at_a_time < 1:
            raise UserError(f"--workers must be 1 or more, not {workers}")

    def describe(self) -> str:
        """How many jobs run at a time, and where."""
        at_a_time = "one" if self.at_a_time == 1 else str(self.at_a_time)
        cores = "one core" if self.threads == 1 else f"{self.threads} cores"
        return f"{at_a_time} at a time, {cores} each"

    def run(self, jobs: Sequence[Job], stop: Stop) -> Iterator[Event]:
        """Run jobs, in their order, and report on them."""
        waiting = deque(jobs)
        crew = [_Worker() for _ in range(min(self.at_a_time, len(waiting)))]
        try:
            yield from _direct(crew, waiting, stop)
        finally:
            for worker in crew:
                worker.dismiss()
            for worker in crew:
                worker.process.join()


def _direct(crew: list["_Worker"], waiting: deque[Job], stop: Stop) -> Iterator[Event]:
    stopping = False
    died: set[Path] = set()
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
            if worker.connection not in ready:
                continue
            job, event = worker.hear()
            if event is not None:
                yield event
            elif stopping:
                yield Interrupted(job)
            elif job.directory in died:
                yield _gave_up(job, worker)
            else:
                died.add(job.directory)
                waiting.appendleft(job)
                yield Warned(job, f"{worker.death()}; trying once more")
            if worker.gone and waiting:
                crew[crew.index(worker)] = _Worker()


def _gave_up(job: Job, worker: "_Worker") -> Failed:
    return record_failure(job, f"{worker.death()}, for the second time")


def _cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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

    def hear(self) -> tuple[Job, Event | None]:
        """Its job, and its next message about it; None if it died."""
        job, event = self.job, None
        assert job is not None
        try:
            event = self.connection.recv()
        except (EOFError, OSError):
            self.gone = True
            self.process.join()
        if not isinstance(event, Progressed | Warned):
            self.job = None
        return job, event

    def death(self) -> str:
        """How it died."""
        return f"the process of the run died (exit code {self.process.exitcode})"

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
