"""Jobs as an array of SLURM jobs, each queued again when its time is over."""

import os
import pickle
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tpr_rnn.errors import UserError, missing_extra, quoted
from tpr_rnn.experiments.grid import Job
from tpr_rnn.experiments.launcher import Launcher, Stop
from tpr_rnn.experiments.worker import (
    Began,
    Event,
    Failed,
    Finished,
    Interrupted,
    Warned,
    await_lock,
    record_failure,
    run_job,
)

_ATTENTION_SECONDS = 1.0
"""How often the launcher reads what the runs say, and a run whether it should stop."""
_QUEUE_SECONDS = 5.0
"""How often the launcher asks SLURM which jobs are still there."""
_END_SECONDS = 60.0
"""How long the launcher waits for processes that have said their last word."""
_LARGEST_ARRAY = 256
"""Runs at a time, where no number is given and SLURM has room for all."""
_SIGNAL_SECONDS = 60
"""So long before its time is over a run is told, to be queued again."""
MINUTES = 60
"""How long a run may take at a stretch, where nothing is said."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What each run asks SLURM for, besides its threads."""

    partition: str | None = None
    """None: SLURM's default."""
    minutes: int = MINUTES
    """After which a run is queued again, and goes on from its last checkpoint."""
    memory: str | None = None
    """Such as 4G; None: SLURM's default."""

    def __post_init__(self) -> None:
        """Refuse what SLURM would not understand."""
        if self.minutes < 2:  # SLURM's clock is that coarse
            raise UserError(f"--time must be 2 minutes or more, not {self.minutes}")
        if self.memory is not None and not re.fullmatch(r"\d+[KMGT]?", self.memory):
            raise UserError(f"--memory takes a size such as 4G, not {quoted(self.memory)}")


class SlurmArrays(Launcher):
    """One array of SLURM jobs, by submitit; the nodes share the run directories."""

    def __init__(self, workers: int | None, threads: int, limits: Limits) -> None:
        """Find SLURM."""
        if workers is not None and workers < 1:
            raise UserError(f"--workers must be 1 or more, not {workers}")
        try:
            import submitit  # noqa: F401
        except ImportError:
            raise missing_extra("--on slurm", "submitit", "slurm") from None
        if shutil.which("sbatch") is None:
            raise UserError("--on slurm: no sbatch here; this is for a login node of a cluster")
        self.at_a_time = workers or _LARGEST_ARRAY
        self.threads, self.limits = threads, limits

    def describe(self) -> str:
        """How many jobs run at a time, and where."""
        cores = "one core" if self.threads == 1 else f"{self.threads} cores"
        where = "" if self.limits.partition is None else f", partition {self.limits.partition}"
        minutes = f"{self.limits.minutes} minutes at a stretch"
        return f"up to {self.at_a_time} at a time, {cores} each, on SLURM{where}, {minutes}"

    def run(self, jobs: Sequence[Job], stop: Stop) -> Iterator[Event]:
        """Run jobs, in their order as far as there is room, and report on them."""
        if not jobs:
            return
        places = [job.directory.resolve().parent for job in jobs]
        folder = Path(tempfile.mkdtemp(prefix="slurm-", dir=os.path.commonpath(places)))
        queue = _Queue(self._executor(folder, jobs), folder)
        try:
            yield from _direct(queue, jobs, stop)
        finally:
            queue.cancel()
        queue.await_end()
        shutil.rmtree(folder, ignore_errors=True)  # an exception leaves what SLURM has said

    def _executor(self, folder: Path, jobs: Sequence[Job]) -> Any:
        import submitit

        executor = submitit.SlurmExecutor(folder=folder / "%A", max_num_timeout=10**6)
        limits = self.limits
        told: dict[str, str | int | None] = {"partition": limits.partition, "mem": limits.memory}
        if any(job.config.device.startswith("cuda") for job in jobs):
            told["gpus_per_node"] = 1
        executor.update_parameters(
            job_name="tpr-rnn",
            time=limits.minutes,
            cpus_per_task=self.threads,
            array_parallelism=self.at_a_time,
            signal_delay_s=min(_SIGNAL_SECONDS, 15 * limits.minutes),
            **{name: value for name, value in told.items() if value is not None},
        )
        return executor


class SlurmTask:
    """What runs on a node: a job, whose events go to a file that the launcher reads."""

    def __init__(self, job: Job, folder: Path, number: int) -> None:
        self.job = replace(job, directory=job.directory.resolve())
        self.said = folder / f"events-{number}"
        self.stop = folder / "stop"

    def __call__(self) -> None:
        """Run the job, or go on with it."""
        self._say(Began(self.job))
        await_lock(self.job.directory)
        for event in run_job(self.job, _now_and_then(self.stop.exists)):
            self._say(event)

    def checkpoint(self) -> Any:
        """Called when the time is over: the same again, which goes on from the last checkpoint."""
        from submitit.helpers import DelayedSubmission

        self._say(Warned(self.job, "its time on SLURM was over; queued again, to go on"))
        return DelayedSubmission(self)

    def _say(self, event: Event) -> None:
        with self.said.open("ab") as file:
            file.write(pickle.dumps(event))


class _Queue:
    """The tasks of one sweep in SLURM's queue, seen from outside."""

    def __init__(self, executor: Any, folder: Path) -> None:
        self._executor, self._folder = executor, folder
        self._tasks: dict[str, tuple[Job, SlurmTask]] = {}
        self._read: dict[str, int] = {}
        self._asked = 0.0
        self._missing: set[str] = set()

    @property
    def left(self) -> bool:
        """Whether any job is still to be heard of."""
        return bool(self._tasks)

    def submit(self, jobs: Sequence[Job]) -> None:
        """Queue jobs, as one array."""
        begin = len(self._read)
        tasks = [
            SlurmTask(job, self._folder, number) for number, job in enumerate(jobs, start=begin)
        ]
        try:
            submitted = self._executor.submit_array(tasks)
        except Exception as error:  # of submitit or of sbatch: what SLURM did not like
            raise UserError(f"--on slurm: SLURM took no jobs ({_last_line(error)})") from error
        for each, job, task in zip(submitted, jobs, tasks, strict=True):
            self._tasks[each.job_id] = job, task
            self._read[each.job_id] = 0

    def hear(self) -> Iterator[Event]:
        """What the runs have said since."""
        for number, (job, task) in list(self._tasks.items()):
            for event in self._news(number, task):
                yield replace(event, job=job)
                if isinstance(event, Finished | Failed | Interrupted):
                    del self._tasks[number]

    def _news(self, number: str, task: SlurmTask) -> list[Event]:
        events: list[Event] = []
        if not task.said.exists():
            return events
        with task.said.open("rb") as file:
            file.seek(self._read[number])
            try:
                while True:
                    events.append(pickle.load(file))
                    self._read[number] = file.tell()
            except (EOFError, pickle.UnpicklingError):  # the rest is being written
                return events

    def dead(self) -> list[Job]:
        """The jobs that SLURM does not know any more, though they have not come to an end."""
        if time.monotonic() - self._asked < _QUEUE_SECONDS or not self._tasks:
            return []
        self._asked = time.monotonic()
        listed = _squeue(self._tasks)
        if listed is None:
            return []
        missing = self._tasks.keys() - listed
        dead = missing & self._missing  # twice: its last words may come late
        self._missing = missing - dead
        return [self._tasks.pop(number)[0] for number in sorted(dead)]

    def await_end(self) -> None:
        """Wait until SLURM is done with all of them: they have files open beside the runs."""
        deadline = time.monotonic() + _END_SECONDS
        while _squeue(self._read) and time.monotonic() < deadline:
            time.sleep(_ATTENTION_SECONDS)

    def stop(self) -> None:
        """Let all tasks save their state, and end; those that have not begun leave the queue."""
        (self._folder / "stop").touch()
        self.cancel("--state=PENDING")
        for number, (_, task) in list(self._tasks.items()):
            if not task.said.exists():
                del self._tasks[number]

    def cancel(self, *options: str) -> None:
        """Take jobs off SLURM's queue."""
        if self._tasks:
            subprocess.run(["scancel", *options, *self._tasks], check=False, capture_output=True)


def _direct(queue: _Queue, jobs: Sequence[Job], stop: Stop) -> Iterator[Event]:
    stopping = False
    died: set[Path] = set()
    queue.submit(jobs)
    while queue.left:
        if not stopping and stop():
            stopping = True
            queue.stop()
        yield from queue.hear()
        for job in queue.dead():
            problem = "the process of the run died, or SLURM cancelled it"
            if stopping:
                yield Interrupted(job)
            elif job.directory in died:
                yield record_failure(job, f"{problem}, for the second time")
            else:
                died.add(job.directory)
                yield Warned(job, f"{problem}; trying once more")
                queue.submit([job])
        time.sleep(_ATTENTION_SECONDS)


def _squeue(numbers: Iterable[str]) -> set[str] | None:
    """Which jobs of the same arrays wait or run, as submitit numbers them; None: no answer."""
    arrays = sorted({number.split("_")[0] for number in numbers})
    found = subprocess.run(
        ["squeue", "--noheader", "--array", "--format=%F_%K", f"--jobs={','.join(arrays)}"],
        check=False,
        capture_output=True,
        text=True,
    )
    if found.returncode and "Invalid job id" not in found.stderr:
        return None
    return {number.removesuffix("_N/A") for number in found.stdout.split()}


def _now_and_then(ask: Callable[[], bool]) -> Callable[[], bool]:
    """The same question, asked at most once a while: a shared file system takes its time."""
    asked, answer = 0.0, False

    def question() -> bool:
        nonlocal asked, answer
        if not answer and time.monotonic() - asked >= _ATTENTION_SECONDS:
            asked, answer = time.monotonic(), ask()
        return answer

    return question


def _last_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[-1]
