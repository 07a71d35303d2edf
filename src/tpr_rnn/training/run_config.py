"""What a run is told to do, and the stories that go with it."""

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tpr_rnn.data.corpus import Corpus
from tpr_rnn.data.stories import check_task, load_stories
from tpr_rnn.errors import UserError
from tpr_rnn.settings import Difference, first_difference
from tpr_rnn.training.presets import Preset
from tpr_rnn.training.run_directory import RunDirectory


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """What a run is told to do."""

    task: str
    """The number of a task, 'all', or an experiment with new names (data/babi/systematic.py)."""
    seed: int
    preset: str
    """The name of the preset that the settings started from."""
    settings: Preset
    data: str | None = None
    """Directory of bAbI files; None: generated stories."""
    substitute_missing: bool = False
    """Train on generated stories where a training file is missing."""
    threads: int = 1
    device: str = "cpu"
    experiment: str | None = None
    """The experiment that the run belongs to; None: the one whose runs are like it."""
    variant: str | None = None
    """What distinguishes it there from runs of the same task and seed; None: its preset."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        check_task(self.task)
        if not (isinstance(self.seed, int) and 0 <= self.seed < 2**62):
            raise UserError(f"the seed must be a whole number from 0 to 2^62, not {self.seed}")
        cores = os.cpu_count() or 1
        if not (isinstance(self.threads, int) and 1 <= self.threads <= cores):
            raise UserError(f"threads must be from 1 to {cores}, not {self.threads}")

    def own(self) -> dict[str, Any]:
        """What is told apart from the settings."""
        names = ("task", "seed", "preset", "data", "substitute_missing", "threads", "device")
        return {name: getattr(self, name) for name in names}

    def as_json(self) -> dict[str, Any]:
        """The configuration as JSON values, for config.json."""
        place = {"experiment": self.experiment, "variant": self.variant}
        return place | self.own() | self.settings.as_json()

    def difference(self, there: "RunConfig") -> Difference | None:
        """What the run there was told otherwise than this one, if anything."""
        mine, others = (each.own() | each.settings.all_settings() for each in (self, there))
        return first_difference(mine, others)

    @staticmethod
    def from_json(config: dict[str, Any]) -> "RunConfig":
        """Read `as_json` back."""
        others = ("architecture", "model", "recipe", "tasks", "substituted", "data_sha256")
        own = {key: value for key, value in config.items() if key not in others}
        return RunConfig(settings=Preset.from_json(config), **own)

    @staticmethod
    def of(directory: Path) -> "RunConfig":
        """The configuration of the run in a directory."""
        try:
            return RunConfig.from_json(RunDirectory(directory).config())
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UserError(f"{directory / 'config.json'}: not that of a run ({error})") from error


def corpus_for(
    run: Path, directory: Path | None, splits: Collection[str]
) -> tuple[Corpus, list[str]]:
    """Stories of the tasks that a run was trained on, and the tasks that are left out for that.

    From a directory or, without one, generated; for a model that is to be scored or analysed.
    """
    config = RunConfig.of(run)
    corpus = load_stories(
        directory, config.task, splits, substitute_missing=config.substitute_missing
    )
    trained = RunDirectory(run).config().get("tasks", list(corpus.stories))
    if isinstance(trained, list):  # runs of version 0.1 have numbers
        trained = list(map(str, trained))
    if not (isinstance(trained, list) and any(task in trained for task in corpus.stories)):
        raise UserError(
            f"{run / 'config.json'}: 'tasks' is {trained}; expected tasks that it was trained on, "
            f"such as {list(corpus.stories)}"
        )
    others = [task for task in corpus.stories if task not in trained]
    for task in others:
        del corpus.stories[task]
    return corpus, others
