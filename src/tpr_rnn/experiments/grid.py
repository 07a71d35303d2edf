"""The parts of an experiment: jobs, each a run with a directory of its own."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tpr_rnn.data.corpus import check_there_is
from tpr_rnn.data.registry import BUILT_IN, find_data_set, is_one
from tpr_rnn.evaluation.record import RunRecord
from tpr_rnn.training.presets import DEFAULT, preset, preset_name
from tpr_rnn.training.run import usual_experiment
from tpr_rnn.training.run_config import RunConfig

Place = tuple[str, str, str, int]
"""Of a run in an experiment: the experiment, the variant, the task and the seed."""


@dataclass(frozen=True)
class Job:
    """One run of an experiment, and its directory."""

    config: RunConfig
    directory: Path

    @property
    def variant(self) -> str:
        """What distinguishes it from runs with the same task and seed: its column in a table."""
        return self.config.variant or self.config.preset

    @property
    def place(self) -> Place:
        """Its place in the experiment; `place_of` its record is the same."""
        config = self.config
        experiment = config.experiment or usual_experiment(config.task)
        return experiment, self.variant, config.task, config.seed

    @property
    def name(self) -> str:
        """The job for a person to read."""
        task = f" task {self.config.task}" if is_one(self.config.task) else ""
        return f"{self.variant}{task} seed {self.config.seed}"


def place_of(record: RunRecord) -> Place:
    """The place of a finished run in its experiment."""
    return record.experiment, record.variant, record.task, record.seed


@dataclass(frozen=True, kw_only=True)
class Request:
    """What an experiment is to run."""

    out: Path
    """Directory for the runs."""
    seeds: range
    tasks: tuple[str, ...] = ()
    """Single tasks; none: all those of the data set, or all that are there if it has no own."""
    data: Path | None = None
    """Directory of the stories; None: generated ones."""
    preset: str = DEFAULT
    experiment: str | None = None
    """Its name; None: that of which such runs are usually."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Changes to the preset, as text."""
    threads: int = 1
    device: str = "cpu"

    def single_tasks(self) -> tuple[str, ...]:
        """The tasks of an experiment that has a model for each."""
        if self.tasks:
            return self.tasks
        if self.data is None:
            return tuple(BUILT_IN.tasks)
        data_set, files = find_data_set(self.data)
        return tuple(data_set.tasks or files)

    def jobs(
        self, tasks: Iterable[str], variants: Mapping[str, Mapping[str, str]] | None = None
    ) -> list[Job]:
        """A run for each variant, task and seed.

        Args:
            tasks: names of tasks, or of several for one model of all of them.
            variants: by name, the settings that each changes; None: the preset as it is, and its
                name is the variant's.
        """
        tasks = list(tasks)
        for task in tasks:
            check_there_is(self.data, task)
        return [
            self._job(task, seed, variant, changes)
            for variant, changes in (variants or {"": {}}).items()
            for task in tasks
            for seed in self.seeds
        ]

    def _job(self, task: str, seed: int, variant: str, changes: Mapping[str, str]) -> Job:
        name = preset_name(self.preset, task)
        variant = variant or name
        config = RunConfig(
            task=task,
            seed=seed,
            preset=name,
            settings=preset(name).with_settings({**self.settings, **changes}),
            data=None if self.data is None else str(self.data.resolve()),
            threads=self.threads,
            device=self.device,
            experiment=self.experiment,
            variant=variant,
        )
        place = self.out / variant / f"task-{task}" if is_one(task) else self.out / variant
        return Job(config, place / f"seed-{seed}")
