"""Shows a training run: a progress bar on a terminal, plain lines elsewhere."""

import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tpr_rnn import __version__
from tpr_rnn.cli.console import Console
from tpr_rnn.cli.options import command
from tpr_rnn.cli.result_tables import error_table, without
from tpr_rnn.data.dataset import GENERATED, SPLITS
from tpr_rnn.evaluation.record import RunRecord
from tpr_rnn.memory import native
from tpr_rnn.models import TPRRNN
from tpr_rnn.models.registry import ARCHITECTURES
from tpr_rnn.models.word_level import WordLevel
from tpr_rnn.times import duration
from tpr_rnn.training.events import Evaluated, Event, LearningRateHalved, Restarted, Stepped
from tpr_rnn.training.run import Run

LINE_SECONDS = 5.0
"""Least time between two lines where there is no terminal."""


class TrainingView:
    """Shows one run from start to end."""

    def __init__(self, directory: Path, to_stderr: bool) -> None:
        self.directory = directory
        self.console = Console(to_stderr=to_stderr)
        self._progress: Progress | None = None

    def preparing(self) -> None:
        """Say that the stories are being read, which takes a moment."""
        self.console.print("reading the stories and preparing the memory ...")

    @contextmanager
    def watching(self, run: Run) -> Iterator[None]:
        """Describe the run, and keep the progress bar alive while it goes on."""
        self._run = run
        self._loss = "-"
        self._valid = "-"
        self._begun = self._last_line = time.monotonic()
        self._first_step = run.trainer.progress.step
        self._say_start()
        if not self.console.is_terminal:
            yield
            return
        self._progress = Progress(
            MofNCompleteColumn(),
            BarColumn(bar_width=10),
            TextColumn("{task.description}"),
            TimeRemainingColumn(compact=True, elapsed_when_finished=True),
            console=self.console,
            refresh_per_second=4,
        )
        with self._progress:
            self._bar = self._progress.add_task(self._state())
            self._show_progress()
            yield
            self._show_progress()
        self._progress = None

    def show(self, event: Event) -> None:
        """Show an event of the run."""
        if isinstance(event, Stepped):
            self._loss = f"{event.loss:.4f}"
            if event.step % 10 == 0:
                self._show_progress()
        elif isinstance(event, Evaluated):
            self._valid = f"{event.valid.error:.2f} %"
            now = time.monotonic()
            if self._progress is not None:
                self._show_progress()
            elif now - self._last_line > LINE_SECONDS or self._run.ended:
                self._last_line = now
                steps = self._run.trainer.expected_steps
                left = (now - self._begun) / max(event.step - self._first_step, 1)
                left *= steps - event.step
                self.console.print(
                    f"step {event.step} of {steps} | {self._state()} | about {left:.0f} s left"
                )
        elif isinstance(event, Restarted):
            self.console.print(f"{event.reason}: starting again with seed {event.seed}")
        elif isinstance(event, LearningRateHalved):
            self.console.print(f"step {event.step}: validation loss is low, learning rate halved")
        else:
            self.console.print(f"step {event.step}: stopped early: {event.reason}")

    def interrupted(self, run: Run, resume_command: str) -> None:
        """After Ctrl-C: how far the run is, and how to resume it."""
        step, steps = run.trainer.progress.step, run.trainer.expected_steps
        self.console.print(
            f"Interrupted at step {step} of {steps}; everything is saved. To resume:\n"
            f"  {resume_command}"
        )

    def team_lost(self, problem: str, resume_command: str) -> None:
        """Another process that trains the same model has died."""
        self.console.print(
            f"Another process of this run died ({problem}). The last checkpoint stays. To resume, "
            f"with torchrun or without:\n  {resume_command}"
        )

    def finished_before(self, record: RunRecord) -> None:
        """A run that is finished already."""
        self.console.print(
            f"{self.directory}: finished already, nothing to resume "
            f"(validation error {record.valid.error:.2f} %)."
        )

    def finished(self, run: Run, record: RunRecord) -> None:
        """The errors, the saved files, and the next commands."""
        self.console.print(error_table("valid", record.valid.error, record.valid.per_task))
        passed = f"{record.steps} steps in {duration(record.seconds)}"
        self.console.print(f"{passed}; best on validation at step {record.best_step}.")
        names = "model.safetensors, config.json, metrics.jsonl, result.json"
        self.console.print(f"Saved in {self.directory}: {names}")
        where = shlex.quote(str(self.directory))
        self.console.print(f"Next:\n  {command()} ask {where}")
        if run.corpus.split("test"):
            self.console.print(
                f"  {command()} evaluate {where} --split test     when all choices are made"
            )

    def _say_start(self) -> None:
        run, trainer = self._run, self._run.trainer
        config, progress = run.config, trainer.progress
        say = self.console.print
        python = ".".join(map(str, sys.version_info[:3]))
        device = f"{config.device}, {config.threads} thread(s)"
        if trainer.team is not None:
            device += f", {trainer.team.size} processes"
        say(f"tpr-rnn {__version__} | Python {python} | torch {torch.__version__} | {device}")
        source = "generated by the simulator" if run.corpus.name == GENERATED else config.data
        sizes = ", ".join(f"{run.corpus.questions(split)} {split}" for split in SPLITS)
        say(f"stories    {source}: {sizes} questions, {len(run.vocabulary)} words")
        for line in without(run.corpus.missing_files):
            say(f"           {line}")
        for task, sentence in run.corpus.substituted.items():
            say(f"           task {task}: {sentence}")
        parameters = sum(parameter.numel() for parameter in trainer.model.parameters())
        title = ARCHITECTURES[config.settings.architecture].title
        say(f"model      {title}: {trainer.config.summary()}; {parameters:,} parameters")
        recipe = trainer.recipe
        attempts = f", in up to {recipe.attempts} attempts" if recipe.attempts > 1 else ""
        say(
            f"training   preset {config.preset}, seed {config.seed}: up to {recipe.epochs} epochs "
            f"of {trainer.steps_per_epoch} steps{attempts}"
        )
        if isinstance(trainer.model, TPRRNN | WordLevel):
            memory = native.status() if config.device == "cpu" else "plain PyTorch"
            say(f"memory     parallel form, {memory}")
        say(f"run        {self.directory}")
        if run.warning is not None:
            say(f"warning    {run.warning}")
        if progress.step:
            say(f"resuming   from step {progress.step} of {trainer.expected_steps}")

    def _show_progress(self) -> None:
        """Bring the progress bar up to date, if there is one."""
        if self._progress is not None:
            trainer = self._run.trainer
            self._progress.update(
                self._bar,
                total=trainer.expected_steps,
                completed=trainer.progress.step,
                description=self._state(),
            )

    def _state(self) -> str:
        progress = self._run.trainer.progress
        best = "-" if progress.best_step is None else f"{progress.best[0]:.2f} %"
        seconds = time.monotonic() - self._begun
        speed = (progress.step - self._first_step) / max(seconds, 1e-9)
        attempts = self._run.trainer.recipe.attempts
        attempt = f"attempt {progress.attempt} of {attempts} | " if attempts > 1 else ""
        return (
            f"{attempt}loss {self._loss} | valid {self._valid} | best {best} | {speed:.0f} steps/s"
        )
