"""Many runs: finished ones are skipped, the others go to a launcher, which says how they fare."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path

from tpr_rnn.evaluation.record import RunRecord
from tpr_rnn.experiments.finished import records_there
from tpr_rnn.experiments.forecast import typical
from tpr_rnn.experiments.grid import Job
from tpr_rnn.experiments.worker import Event, Finished
from tpr_rnn.files import make_directory

Stop = Callable[[], bool]


class Launcher(ABC):
    """Where jobs run: processes of this machine, or a cluster. Each kind is a file of its own."""

    at_a_time: int
    """How many jobs run at the same time, for the forecast."""

    @abstractmethod
    def describe(self) -> str:
        """How many jobs run at a time, and where, for a person to read."""

    @abstractmethod
    def run(self, jobs: Sequence[Job], stop: Stop) -> Iterator[Event]:
        """Run jobs, in their order as far as there is room, and report on them.

        A job that was interrupted goes on from its last checkpoint (`worker.run_job`). A job whose
        process dies is tried once more (`Warned`), one whose node is lost goes on elsewhere. One
        that fails is recorded beside its run (`record_failure`) and does not hold up the others.
        When `stop` returns True, whatever is running is saved, and the events end.
        """


def launch(
    jobs: Sequence[Job],
    launcher: Launcher,
    stop: Stop = lambda: False,
    kept: Path | None = None,
) -> Generator[Event, None, None]:
    """Run the jobs that are not finished, the longest first, and report on all of them.

    What cannot be run is an error before any event. `kept` is a file with the records of jobs that
    were finished elsewhere.
    """
    there = records_there(jobs, kept)
    for job in jobs:
        make_directory(job.directory.parent)
    return _launch(jobs, there, launcher, stop)


def unfinished(jobs: Sequence[Job], there: Mapping[Path, RunRecord]) -> list[Job]:
    """The jobs that have no record there, the longest first."""
    left = [job for job in jobs if job.directory not in there]
    return sorted(left, key=lambda job: typical(job.config.task), reverse=True)


def _launch(
    jobs: Sequence[Job], there: Mapping[Path, RunRecord], launcher: Launcher, stop: Stop
) -> Generator[Event, None, None]:
    for job in jobs:
        if job.directory in there:
            yield Finished(job, there[job.directory], before=True)
    yield from launcher.run(unfinished(jobs, there), stop)
