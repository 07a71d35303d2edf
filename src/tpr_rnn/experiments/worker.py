"""Running jobs, and what there is to report on them."""

import json
import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue

from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.record import RunRecord
from tpr_rnn.experiments.grid import Job
from tpr_rnn.files import write_atomically
from tpr_rnn.training.run_directory import FAILURE, Busy, RunDirectory

PROGRESS_SECONDS = 1.0
"""Least time between two messages about the same evaluation."""
_PATIENCE_SECONDS = 120.0
"""How long a run waits for the lock of a node that was lost: a shared file system may keep it."""


@dataclass(frozen=True)
class Began:
    """A job was given to a worker."""

    job: Job


@dataclass(frozen=True)
class Progressed:
    """How far a job is."""

    job: Job
    share: float
    """Of its expected steps."""
    epoch: int
    epochs: int
    """Expected, over all attempts; it may end earlier, or start another attempt."""
    valid_error: float | None
    seconds: float
    """Training time, that before an interruption included."""
    attempt: int = 1


@dataclass(frozen=True)
class Warned:
    """A job goes on, or is tried again, though something went wrong."""

    job: Job
    problem: str


@dataclass(frozen=True)
class Finished:
    """A job has a record."""

    job: Job
    record: RunRecord
    before: bool = False
    """Whether it was there already."""


@dataclass(frozen=True)
class Tested:
    """The test questions of a finished job are scored too."""

    job: Job
    record: RunRecord


@dataclass(frozen=True)
class Failed:
    """A job has no result, and why."""

    job: Job
    problem: str


@dataclass(frozen=True)
class Interrupted:
    """A job was stopped; its state is saved."""

    job: Job


Event = Began | Progressed | Warned | Finished | Tested | Failed | Interrupted


def work(connection: Connection) -> None:
    """Run the jobs that come through a connection; None ends it, and saves what is running."""
    orders: SimpleQueue[Job | None] = SimpleQueue()
    stop = threading.Event()

    def listen() -> None:
        try:
            while True:
                order = connection.recv()
                if order is None:
                    stop.set()
                orders.put(order)
        except (EOFError, OSError):
            # The launcher is dead and may be started again: then only its new workers may write.
            os._exit(1)

    threading.Thread(target=listen, daemon=True).start()
    while (job := orders.get()) is not None:
        for event in run_job(job, stop.is_set):
            connection.send(event)


def record_failure(job: Job, problem: str) -> Failed:
    """Record beside the run why there is no result, if that can be written."""
    record = {"config": job.config.as_json(), "problem": problem}
    text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    try:
        job.directory.mkdir(parents=True, exist_ok=True)
        write_atomically(job.directory / FAILURE, text.encode())
    except OSError as error:  # the other runs must go on
        return Failed(job, f"{problem} (not recorded: {error})")
    return Failed(job, problem)


def await_lock(directory: Path) -> None:
    """Wait until a run is free: the process of a node that was lost may linger."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while directory.exists() and time.monotonic() < deadline:
        with suppress(Busy), RunDirectory(directory).locked():
            return
        time.sleep(1.0)


def run_job(job: Job, stop: Callable[[], bool]) -> Iterator[Event]:
    """Run a job, or go on with it; the last event is what came of it.

    Whatever it raises is its failure. When `stop` returns True, its state is saved.
    """
    try:
        yield from _run(job, stop)
    except Busy as error:
        yield Failed(job, str(error))  # nothing is wrong with the run itself
    except (UserError, OSError) as error:
        yield record_failure(job, str(error))
    except Exception:
        yield record_failure(job, traceback.format_exc())


def _run(job: Job, stop: Callable[[], bool]) -> Iterator[Event]:
    from tpr_rnn.training.events import Evaluated
    from tpr_rnn.training.run import Run

    begun = RunDirectory(job.directory).started
    run = Run.resume(job.directory) if begun else Run.begin(job.config, job.directory)
    if run.warning is not None:
        yield Warned(job, run.warning)
    trainer = run.trainer
    reported, valid_error = 0.0, None
    for event in run.events(stop):
        now = time.monotonic()
        if isinstance(event, Evaluated):
            valid_error = event.valid.error
        elif now - reported < PROGRESS_SECONDS:
            continue
        reported = now
        step, steps = trainer.progress.step, trainer.expected_steps
        epoch, epochs = step // trainer.steps_per_epoch, steps // trainer.steps_per_epoch
        seconds, attempt = run.elapsed.seconds, trainer.progress.attempt
        yield Progressed(job, step / steps, epoch, epochs, valid_error, seconds, attempt)
    if not run.ended:
        yield Interrupted(job)
        return
    record = run.finish()
    (job.directory / FAILURE).unlink(missing_ok=True)
    yield Finished(job, record)
