"""The numbers of a group of runs by task and seed, whether a model is for one task or for all."""

from collections.abc import Mapping, Sequence

from tpr_rnn.report.numbers import TASKS, failed, mean_of_all, spread, two_places
from tpr_rnn.report.records import Group
from tpr_rnn.report.section import counted
from tpr_rnn.report.table import Cell


class Runs:
    """Errors of a group, with what follows from them."""

    def __init__(
        self,
        group: Group,
        errors: Mapping[str, Sequence[float | None]],
        mean_of_best: float | None,
    ) -> None:
        """Compute means.

        Args:
            group: the runs.
            errors: by task, of each seed; None where there is no run.
            mean_of_best: the mean over tasks of what is best by validation.
        """
        self.group, self.label, self.seeds = group, group.label, group.seeds
        self.errors, self.mean_of_best = errors, mean_of_best
        self.of_seed = list(zip(*errors.values(), strict=True))
        self.means = [mean_of_all(each) for each in self.of_seed]
        self.failures = [failed(each) for each in self.of_seed]
        self.mean, self.failed = spread(self.means), spread(self.failures)
        self.doubt = ""
        """What must be said of the best by validation, in brackets."""

    def missing(self) -> dict[str, list[int]]:
        """Task -> seeds without a run."""
        return {
            task: [seed for seed, error in zip(self.seeds, errors, strict=True) if error is None]
            for task, errors in self.errors.items()
        }

    def row_of_peers(self) -> list[Cell]:
        """The group as a row of a table of systems."""
        return [self.group.system, self.mean, self.mean_of_best, self.failed, "this report"]

    def headline(self, none_whole: str, cost: str) -> str:
        """The group in a line.

        Args:
            none_whole: what to say if no seed has all tasks.
            cost: what the runs took.
        """
        if self.mean is None:
            return f"`{self.label}`: {none_whole} ({counted(len(self.group.records), 'run')})"
        error = two_places(self.mean.mean)
        if self.mean.deviation is not None:
            error += f" ± {two_places(self.mean.deviation)}"
        text = f"`{self.label}`: mean error {error} % over {len(TASKS)} "
        text += f"tasks and {counted(self.mean.count, 'seed')}"
        if self.failed is not None:
            text += f", {self.failed.mean:.1f} failed tasks a seed"
        if self.mean_of_best is not None:
            text += f", best by validation {two_places(self.mean_of_best)} %{self.doubt}"
        return f"{text}; {cost}"
