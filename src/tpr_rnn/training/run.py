"""One run from stories to record: prepare, train, survive, score."""

import math
import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import msgspec
import torch
from msgspec import structs

from tpr_rnn.data.corpus import TRAINING, load_corpus
from tpr_rnn.data.dataset import ALL, SPLITS, Corpus
from tpr_rnn.data.encoding import build_vocabulary, encode, longest_sentence
from tpr_rnn.data.registry import find_mixture
from tpr_rnn.data.vocabulary import Vocabulary
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.calibration import calibration_error, fit_temperature
from tpr_rnn.evaluation.provenance import source, versions
from tpr_rnn.evaluation.record import Calibration, RunRecord, Settings, ValidErrors
from tpr_rnn.evaluation.scoring import Scores, answered, percent, score, task_errors
from tpr_rnn.memory import native
from tpr_rnn.models import TPRRNN
from tpr_rnn.models.reader import Reader
from tpr_rnn.models.word_level import WordLevel
from tpr_rnn.team import Team, device_here
from tpr_rnn.training.events import Evaluated, Event, Restarted
from tpr_rnn.training.presets import DEFAULT, preset_name
from tpr_rnn.training.presets import preset as find_preset
from tpr_rnn.training.renaming import Renaming
from tpr_rnn.training.run_config import ConfigFile, RunConfig
from tpr_rnn.training.run_directory import Busy, Elapsed, RunDirectory
from tpr_rnn.training.trainer import Trainer

CHECKPOINT_SECONDS = 10.0
"""Least time between two checkpoints: what a kill can cost."""


class Run:
    """A run: its stories, its trainer and its directory."""

    def __init__(self, config: RunConfig, directory: Path, corpus: Corpus) -> None:
        self.config = config
        self.source = source()  # now: the files may change while it runs
        self.directory = RunDirectory(directory)
        self.vocabulary = build_vocabulary(corpus.all_stories())
        self.trainer = _trainer(config, corpus, self.vocabulary)
        self.corpus = corpus.with_first("valid", config.settings.recipe.valid_stories)
        self.device = self.trainer.device
        self.elapsed = Elapsed()
        self.warning: str | None = None
        """What a person should know of how it was resumed."""

    @staticmethod
    def begin(config: RunConfig, directory: Path) -> "Run":
        """Start a new run in a directory that holds none yet."""
        if RunDirectory(directory).started:
            raise UserError(
                f"{directory}: there is a run already; add --resume to go on with it, "
                "or choose another --out"
            )
        RunDirectory(directory).check_free()
        run = Run(config, directory, _load(config))
        run._write_config()
        return run

    @staticmethod
    def resume(directory: Path) -> "Run":
        """Go on with a run that was stopped or killed, or begin one that was planned."""
        config = RunConfig.of(directory)
        find_preset(config.preset)  # its name goes into the record: one that nobody knows is damage
        run = Run(config, directory, _load(config))
        begun_with = ConfigFile.of(directory).data_sha256
        if begun_with is None:
            run._write_config()
        elif begun_with != run.corpus.sha256:
            raise UserError(
                f"{config.data or 'the generated stories'}: no longer what the run in {directory} "
                "was begun with; bring the old data back, or begin a new run"
            )
        run.elapsed, run.warning = run.directory.load_checkpoint(run.trainer)
        return run

    def train_with(self, team: Team) -> None:
        """Let other processes, which are in `help_to_train`, have a share of every batch."""
        team.tell((self.config, self.corpus.sha256, self.trainer.progress))
        team.copy(self.trainer.tensors().values())
        self.trainer.team = team

    def _write_config(self) -> None:
        identity = {
            "tasks": list(self.corpus.stories),
            "substituted": self.corpus.substituted,
            "data_sha256": self.corpus.sha256,
        }
        self.directory.begin(self.config.as_json() | identity)

    def events(self, stop: Callable[[], bool] = lambda: False) -> Generator[Event, None, None]:
        """Train, keeping the directory up to date; `finish` is to be called after the last event.

        When `stop` returns True the state is saved and the events end early.
        """
        before = self.elapsed
        start, cpu_start = time.monotonic(), time.process_time()
        saved = time.monotonic()
        with self.directory.locked(), _tiny_is_zero():
            if self.directory.finished:
                raise Busy(f"{self.directory.path}: another process has just finished this run")
            self.directory.drop_metrics_after(self.trainer.progress.last_evaluation)
            try:
                for event in _train(self.trainer, self._time_is_up):
                    self.elapsed = Elapsed(
                        before.seconds + time.monotonic() - start,
                        before.cpu_seconds + time.process_time() - cpu_start,
                    )
                    if isinstance(event, Evaluated):
                        self._keep(event)
                    elif isinstance(event, Restarted):  # what came of NaN is not kept
                        self.directory.drop_metrics_after(self.trainer.progress.last_evaluation)
                    if time.monotonic() - saved > CHECKPOINT_SECONDS:
                        self._save()
                        saved = time.monotonic()
                    yield event
                    if _any_stops(self.trainer.team, stop):
                        break
            except GeneratorExit:  # whoever iterates goes away; between two events all is whole
                self._save()
                raise
            # An error, or a second Ctrl-C, may come within a step: then the last checkpoint stays.
            self._save()

    def _time_is_up(self) -> bool:
        minutes = self.config.settings.recipe.minutes
        return minutes is not None and self.elapsed.seconds >= 60 * minutes

    @property
    def ended(self) -> bool:
        """Whether training has come to its end, planned or early."""
        return self.trainer.ended

    def finish(self) -> RunRecord:
        """Score the best model on the validation questions and write the record."""
        self.trainer.use_best()
        model, data = self.trainer.model, self.trainer.valid
        with _tiny_is_zero():
            valid = score(model, data, self.device)
            logits, answer, _ = answered(model, data, self.device)
        temperature = fit_temperature(logits, answer)
        replace(self._reader(), temperature=temperature).save(self.directory.model)
        calibration = Calibration(
            temperature=temperature,
            error_before=percent(calibration_error(logits, answer)),
            error=percent(calibration_error(logits, answer, temperature)),
        )
        record = structs.replace(self._record(valid), calibration=calibration)
        self.directory.finish(record)
        return record

    def _keep(self, event: Evaluated) -> None:
        if event.best:
            self._reader().save(self.directory.model)
        self.directory.append_metrics(
            {
                "step": event.step,
                "epoch": event.epoch,
                **{name: round(seconds, 2) for name, seconds in self.elapsed._asdict().items()},
                "learning_rate": event.learning_rate,
                "train_loss": event.train_loss,
                "valid_loss": event.valid.loss,
                "valid_error": event.valid.error,
                "per_task": event.valid.errors,
            }
        )

    def _save(self) -> None:
        self.directory.save_checkpoint(self.trainer, self.elapsed)

    def _reader(self) -> Reader:
        # A story that somebody tells has no task: as much of it is read as in any.
        caps = self.corpus.max_sentences(self.config.settings.recipe.max_sentences)
        most = max(caps.values()) if len(caps) == len(self.corpus.stories) else None
        return Reader(self.trainer.model, self.vocabulary, most)

    def _record(self, valid: Scores) -> RunRecord:
        config, progress, corpus = self.config, self.trainer.progress, self.corpus
        memory = isinstance(self.trainer.model, TPRRNN | WordLevel)
        kernel = native.status() if self.device.type == "cpu" else "plain PyTorch"
        settings = {"model": asdict(self.trainer.config), "recipe": asdict(config.settings.recipe)}
        return RunRecord(
            experiment=config.experiment or usual_experiment(config.task),
            variant=config.variant or config.preset,
            architecture=config.settings.architecture,
            preset=config.preset,
            task=config.task,
            seed=config.seed,
            attempts=progress.attempt,
            initialisation_seeds=progress.seeds,
            commit=self.source.commit,
            dirty=self.source.dirty,
            kernel=kernel if memory else None,
            device=config.device,
            threads=config.threads,
            processes=self.trainer.team.size if self.trainer.team else 1,
            valid=ValidErrors(
                error=percent(valid.error),
                loss=round(valid.loss, 6) if math.isfinite(valid.loss) else None,
                per_task=task_errors(valid),
            ),
            test=None,
            new_names=None,
            data=corpus.name,
            data_sha256=corpus.sha256,
            questions={split: corpus.questions(split) for split in SPLITS},
            missing_files=corpus.missing_files,
            substituted=corpus.substituted,
            versions=versions(),
            # As JSON has them: lists, not tuples.
            settings=msgspec.convert(msgspec.to_builtins(settings), Settings),
            parameters=sum(p.numel() for p in self.trainer.model.parameters()),
            steps=progress.step,
            best_step=progress.best_step,
            stopped=progress.stopped,
            seconds=round(self.elapsed.seconds, 1),
            cpu_seconds=round(self.elapsed.cpu_seconds, 1),
        )


def help_to_train(team: Team, stop: Callable[[], bool] = lambda: False) -> bool:
    """Take a share in what the first process of a team trains; return whether it came to its end.

    It has the run (`Run.train_with`), and says which one. That it has nothing to train is an end.
    """
    message = team.tell()
    if message is None:
        return True
    config, sha256, progress = message
    corpus = _load(config)
    if corpus.sha256 != sha256:
        raise UserError(
            f"{config.data or 'the generated stories'}: not the same stories for all processes"
        )
    trainer = _trainer(config, corpus, build_vocabulary(corpus.all_stories()))
    tensors = trainer.tensors()
    team.copy(tensors.values())
    trainer.restore(progress, tensors)
    trainer.team = team
    with _tiny_is_zero():
        for _ in _train(trainer, lambda: False):  # the first process has the clock
            if _any_stops(team, stop):
                break
    return trainer.ended


def _train(trainer: Trainer, time_is_up: Callable[[], bool]) -> Iterator[Event]:
    """Train to the end, or until the time is up, for all processes of a team at once."""
    minutes = trainer.recipe.minutes
    for event in trainer.run():
        yield event
        if minutes is not None and _any_stops(trainer.team, time_is_up):
            yield from trainer.end(f"after {minutes:g} min, as `minutes` says")


def _any_stops(team: Team | None, stop: Callable[[], bool]) -> bool:
    """Whether training is to stop here; all processes of a team stop after the same step."""
    return stop() if team is None else team.any(stop())


def _trainer(config: RunConfig, corpus: Corpus, vocabulary: Vocabulary) -> Trainer:
    recipe = config.settings.recipe
    words = longest_sentence(corpus.all_stories())
    max_sentences = corpus.max_sentences(recipe.max_sentences)
    corpus = corpus.with_first("valid", recipe.valid_stories)
    interchangeable = corpus.data_set.interchangeable
    train, valid = (
        encode(corpus.split(split), vocabulary, words, max_sentences, kept)
        # the test questions are for the end
        for split, kept in (("train", interchangeable.kept), ("valid", None))
    )
    renaming = (
        Renaming.of(interchangeable.kinds, vocabulary, train) if recipe.rename_share else None
    )
    model = config.settings.config(vocabulary_size=len(vocabulary), max_words=words)
    torch.set_num_threads(config.threads)
    device = _find_device(device_here(config.device))
    return Trainer(
        model,
        recipe,
        train=train,
        valid=valid,
        seed=config.seed,
        device=device,
        renaming=renaming,
    )


def train(
    task: int | str,
    *,
    out: Path | str,
    data: Path | str | None = None,
    preset: str = DEFAULT,
    seed: int = 0,
    settings: Mapping[str, str] | None = None,
    threads: int = 1,
) -> RunRecord:
    """Train a model from start to end without a word, and return its record.

    Args:
        task: the name of a task (of bAbI its number), "all", "systematic", "wide", or "all+wide".
        out: the run directory; `Reader.load` takes the trained model from it.
        data: a directory of stories, bAbI's or your own; None: generated ones.
        preset: the settings to start from; default: ours that fit the task.
        seed: where all randomness starts.
        settings: changes to the preset, as text, such as {"epochs": "20"}.
        threads: threads of torch; a seed repeats for the same number.
    """
    preset = preset_name(preset, str(task))
    config = RunConfig(
        task=str(task),
        seed=seed,
        preset=preset,
        settings=find_preset(preset).with_settings(settings or {}),
        data=None if data is None else str(Path(data).resolve()),
        threads=threads,
    )
    run = Run.begin(config, Path(out))
    for _ in run.events():
        pass
    return run.finish()


@contextmanager
def _tiny_is_zero() -> Iterator[None]:
    """Take numbers below 1e-38 for 0: a sure model's probabilities are full of them, and slow."""
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


def _find_device(name: str) -> torch.device:
    try:
        return torch.zeros(1, device=name).device
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"--device {name} cannot be used here: {reason}") from error


def _load(config: RunConfig) -> Corpus:
    cores = os.cpu_count() or 1
    if config.threads > cores:
        raise UserError(f"threads must be from 1 to {cores} on this machine, not {config.threads}")
    directory = None if config.data is None else Path(config.data)
    return load_corpus(directory, config.task, needed=TRAINING)


def usual_experiment(task: str) -> str:
    """The experiment whose runs are like one of this task."""
    mixture = find_mixture(task)
    if mixture is not None:
        return mixture.experiment
    return "all-tasks" if task == ALL else "single-task"
