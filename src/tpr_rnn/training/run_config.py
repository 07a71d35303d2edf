"""What a run is told to do, and the stories that go with it."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from tpr_rnn.data.corpus import load_corpus
from tpr_rnn.data.dataset import Corpus
from tpr_rnn.data.registry import find_mixture
from tpr_rnn.errors import UserError, quoted
from tpr_rnn.evaluation.record import Setting
from tpr_rnn.models.registry import TPR_RNN
from tpr_rnn.settings import Difference, first_difference
from tpr_rnn.training.preset import Preset
from tpr_rnn.training.run_directory import CONFIG, RunDirectory

_OWN = ("task", "seed", "preset", "data", "threads", "device")
"""What a run is told apart from its settings and its place in an experiment."""


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """What a run is told to do."""

    task: str
    """The name of a task, 'all', or the name of a mixture (data/dataset.py)."""
    seed: int
    preset: str
    """The name of the preset that the settings started from."""
    settings: Preset
    data: str | None = None
    """Directory of the stories; None: generated ones."""
    threads: int = 1
    device: str = "cpu"
    experiment: str | None = None
    """The experiment that the run belongs to; None: the one whose runs are like it."""
    variant: str | None = None
    """What distinguishes it there from runs of the same task and seed; None: its preset."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if not 1 <= len(self.task) <= 100 or set(self.task) & set("/\\\0"):  # it names a directory
            raise UserError(
                f"the task is the name of one, such as 1 or all, not {quoted(self.task)}"
            )
        if not 0 <= self.seed < 2**62:
            raise UserError(f"the seed must be a whole number from 0 to 2^62, not {self.seed}")
        if self.threads < 1:
            raise UserError(f"threads must be 1 or more, not {self.threads}")
        if not re.fullmatch(r"(cpu|cuda|mps|xpu)(:\d{1,4})?", self.device):
            raise UserError(f"--device is cpu, cuda, cuda:1, mps or xpu, not {quoted(self.device)}")

    def own(self) -> dict[str, Any]:
        """What is told apart from the settings."""
        return {name: getattr(self, name) for name in _OWN}

    def as_json(self) -> dict[str, Any]:
        """The configuration as JSON values, for config.json."""
        place = {"experiment": self.experiment, "variant": self.variant}
        return place | self.own() | self.settings.as_json()

    def difference(self, there: "RunConfig") -> Difference | None:
        """What the run there was told otherwise than this one, if anything."""
        mine, others = (each.own() | each.settings.all_settings() for each in (self, there))
        return first_difference(mine, others)

    @staticmethod
    def of(directory: Path) -> "RunConfig":
        """The configuration of the run in a directory."""
        there = ConfigFile.of(directory)
        own = {name: getattr(there, name) for name in ("experiment", "variant", *_OWN)}
        try:
            return RunConfig(settings=Preset.from_json(structs.asdict(there)), **own)
        except (UserError, TypeError, ValueError) as error:
            raise UserError(f"{directory / CONFIG}: not that of a run ({error})") from error


class ConfigFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `config.json` holds: the configuration, and the stories that the run began with."""

    experiment: str | None = None
    variant: str | None = None
    task: str
    seed: int
    preset: str
    data: str | None
    substitute_missing: bool = False
    """Of runs of before: a choice then. Now it is always done, and said."""
    threads: int
    device: str
    architecture: str = TPR_RNN
    model: dict[str, Setting]
    recipe: dict[str, Setting]
    tasks: list[str | int] | None = None
    """Of one model; numbers in version 0.1. None in a run that was planned and not begun."""
    substituted: dict[str, str] = {}
    data_sha256: str | None = None

    @staticmethod
    def of(directory: Path) -> "ConfigFile":
        """That of the run in a directory."""
        content = RunDirectory(directory).config()
        try:
            return msgspec.convert(content, ConfigFile)
        except ValueError as error:
            raise UserError(f"{directory / CONFIG}: not that of a run ({error})") from error


def scored_task(task: str) -> str:
    """What a model of a task is scored on: itself, unless its mixture says otherwise."""
    mixture = find_mixture(task)
    return task if mixture is None or mixture.scored is None else mixture.scored


def corpus_for(
    run: Path, directory: Path | None, splits: Collection[str]
) -> tuple[Corpus, list[str]]:
    """Stories of the tasks that a run was trained on, and the tasks that are left out for that.

    From a directory or, without one, generated; for a model that is to be scored or analysed.
    """
    corpus = load_corpus(directory, scored_task(RunConfig.of(run).task), splits)
    there = ConfigFile.of(run).tasks
    trained = list(corpus.stories) if there is None else list(map(str, there))
    if not any(task in trained for task in corpus.stories):
        raise UserError(
            f"{directory or corpus.name}: it has the tasks {', '.join(corpus.stories)}; none of "
            f"them is one that {run} was trained on ('tasks' in its {CONFIG}: {trained})"
        )
    others = [task for task in corpus.stories if task not in trained]
    for task in others:
        del corpus.stories[task]
    return corpus, others
