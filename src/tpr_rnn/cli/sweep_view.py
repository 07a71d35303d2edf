"""Shows an experiment: a table on a terminal, plain lines elsewhere."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import mean

from rich.console import Group
from rich.live import Live
from rich.table import Table

from tpr_rnn.cli.console import Console
from tpr_rnn.evaluation.record import RunRecord
from tpr_rnn.experiments.forecast import Forecast
from tpr_rnn.experiments.grid import Job
from tpr_rnn.experiments.launcher import Launcher
from tpr_rnn.experiments.worker import (
    Began,
    Event,
    Failed,
    Finished,
    Progressed,
    Tested,
    Warned,
)
from tpr_rnn.times import duration
from tpr_rnn.training.run_directory import FAILURE

LINE_SECONDS = 60.0
"""Least time between two lines about what is running, where there is no terminal."""


class SweepView:
    """Shows one experiment from start to end. Errors are on validation; test is for the report."""

    def __init__(self, name: str, jobs: Sequence[Job], launcher: Launcher, to_stderr: bool) -> None:
        self.name, self.jobs, self.launcher = name, jobs, launcher
        self.console = Console(to_stderr=to_stderr)
        self.records: dict[Path, RunRecord] = {}
        self.failed: dict[Path, Failed] = {}
        self._waiting = {job.directory: job for job in jobs}
        self._running: dict[Path, Progressed | Began] = {}
        self._found = 0
        self._forecast = Forecast()
        self._last_line = time.monotonic()

    @property
    def left(self) -> bool:
        """Whether there are runs that have neither a result nor a failure."""
        return len(self.records) + len(self.failed) < len(self.jobs)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Keep the table alive while the runs go on."""
        self.console.print(f"{self.name}: {len(self.jobs)} runs, {self.launcher.describe()}")
        if not self.console.is_terminal:
            yield
            return
        with Live(
            console=self.console,
            get_renderable=self._live,
            refresh_per_second=2,
            transient=True,
        ):
            yield

    def show(self, event: Event) -> None:
        """Show what has happened."""
        where = event.job.directory
        self._waiting.pop(where, None)
        if isinstance(event, Began | Progressed):
            self._running[where] = event
            self._say_found()
            self._say_running()
            return
        if isinstance(event, Warned):
            self._say(event.job, event.problem)
            return
        self._running.pop(where, None)
        if isinstance(event, Tested):
            self.records[where] = event.record
        elif isinstance(event, Finished):
            record = event.record
            self.records[where] = record
            self._forecast.learn(event.job, record.seconds)
            if event.before:
                self._found += 1
            else:
                self._say(event.job, f"valid {record.valid.error:.2f} %", record.seconds)
        elif isinstance(event, Failed):
            self.failed[where] = event
            self._say(event.job, f"FAILED: {event.problem.strip().splitlines()[-1]}")
        else:
            self._say(event.job, "interrupted; its state is saved")

    def interrupted(self, resume_command: str) -> None:
        """After Ctrl-C: how far it is, and how to resume it."""
        self._say_found()
        self.console.print(
            f"Interrupted with {len(self.records)} of {len(self.jobs)} runs finished; everything "
            f"is saved. To resume:\n  {resume_command}"
        )

    def testing(self) -> None:
        """The last step: all runs are finished."""
        left = sum(record.test is None for record in self.records.values())
        if left:
            self.console.print(f"all runs are finished: scoring the test questions of {left}")

    def done(self, report_command: str) -> None:
        """After the last run: what came of all of them, and what to type next."""
        self._say_found()
        self.console.print(self._summary())
        seconds = sum((record.seconds for record in self.records.values()), 0.0)
        self.console.print(
            f"{len(self.records)} of {len(self.jobs)} runs finished, in {duration(seconds)} of "
            "computing."
        )
        for failure in self.failed.values():
            self.console.print(f"FAILED {failure.job.name}: {failure.job.directory / FAILURE}")
            self.console.print(f"  {failure.problem.strip().splitlines()[-1]}")
        if self.failed:
            self.console.print(
                "The same command tries failed runs again; test questions are scored when all "
                "runs are finished."
            )
        else:
            self.console.print(f"Next:\n  {report_command}")

    def _say(self, job: Job, text: str, seconds: float | None = None) -> None:
        parts = [f"{len(self.records) + len(self.failed)}/{len(self.jobs)}", job.name, text]
        if seconds is not None:
            parts.append(duration(seconds))
        if not self.console.is_terminal:
            parts.append(self._time_left())
        self.console.print(" | ".join(parts))

    def _say_found(self) -> None:
        if self._found:
            self.console.print(f"{self._found} of them were finished before, with these settings")
            self._found = 0

    def _say_running(self) -> None:
        now = time.monotonic()
        if self.console.is_terminal or now - self._last_line < LINE_SECONDS:
            return
        self._last_line = now
        running = "; ".join(" ".join(self._state(event)) for event in self._running.values())
        self.console.print(f"running | {running} | {self._time_left()}")

    def _state(self, event: Began | Progressed) -> tuple[str, ...]:
        """Name, epoch, validation error and time of a running job."""
        if isinstance(event, Began):
            return event.job.name, "reading the stories"
        error = "" if event.valid_error is None else f"valid {event.valid_error:.2f} %"
        attempt = f", attempt {event.attempt}" if event.attempt > 1 else ""
        epoch = f"epoch {event.epoch}/{event.epochs}{attempt}"
        return event.job.name, epoch, error, duration(event.seconds)

    def _time_left(self) -> str:
        running = [
            (event.job, event.seconds, event.share)
            if isinstance(event, Progressed)
            else (event.job, 0.0, 0.0)
            for event in self._running.values()
        ]
        left = self._forecast.left(self._waiting.values(), running, self.launcher.at_a_time)
        return "time left not known yet" if left is None else f"about {duration(left)} left"

    def _summary(self) -> Table:
        """How many runs of each variant are done, and their mean validation error."""
        table = Table("variant", title=self.name)
        for heading in ("runs", "finished", "failed", "mean valid error"):
            table.add_column(heading, justify="right")
        for variant in dict.fromkeys(job.variant for job in self.jobs):
            places = [job.directory for job in self.jobs if job.variant == variant]
            errors = [self.records[place].valid.error for place in places if place in self.records]
            table.add_row(
                variant,
                str(len(places)),
                str(len(errors)),
                str(sum(place in self.failed for place in places)),
                f"{mean(errors):.2f} %" if errors else "-",
            )
        return table

    def _live(self) -> Group:
        running = Table("running", "epoch", "valid", "time", expand=False)
        for event in self._running.values():
            running.add_row(*self._state(event))
        return Group(self._summary(), running, self._time_left())
