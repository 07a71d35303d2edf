"""How long runs take: which to start first, and the time that is left."""

from collections.abc import Collection
from statistics import mean

from tpr_rnn.data.dataset import ALL
from tpr_rnn.data.registry import DATA_SETS, find_mixture
from tpr_rnn.experiments.grid import Job

_BEGINNING = 0.02
"""Below this share of its steps a run says too little about its length."""


def typical(task: str) -> float:
    """What a run of a task costs, in proportion to others."""
    known = {
        name: float(each.seconds)
        for data_set in DATA_SETS
        for name, each in data_set.tasks.items()
        if each.seconds is not None
    }
    if task == ALL:
        return sum(known.values())
    mixture = find_mixture(task)
    average = mean(known.values())
    return sum(known.get(each, average) for each in ((mixture and mixture.tasks) or [task]))


class Forecast:
    """Estimates from finished runs what the others will cost."""

    def __init__(self) -> None:
        self._seconds: dict[str, list[float]] = {}

    def learn(self, job: Job, seconds: float) -> None:
        """A run is finished, and took so long."""
        self._seconds.setdefault(job.config.task, []).append(seconds)

    def left(
        self,
        waiting: Collection[Job],
        running: Collection[tuple[Job, float, float]],
        workers: int,
    ) -> float | None:
        """Seconds until all is done; None while nothing is known.

        Args:
            waiting: jobs that are not begun.
            running: jobs, with the seconds that each took so far and the share of its steps.
            workers: how many run at a time.
        """
        known = {task: mean(seconds) for task, seconds in self._seconds.items()}
        for job, seconds, share in running:
            if share > _BEGINNING:
                known.setdefault(job.config.task, seconds / share)
        if not known:
            return None
        scale = sum(known.values()) / sum(typical(task) for task in known)

        def cost(job: Job) -> float:
            return known.get(job.config.task, typical(job.config.task) * scale)

        rest = [cost(job) for job in waiting]
        rest += [max(cost(job) - seconds, 0.0) for job, seconds, _ in running]
        return max(sum(rest) / workers, max(rest, default=0.0))
