"""How long runs take: which to start first, and the time that is left."""

from collections.abc import Collection
from statistics import mean

from tpr_rnn.data.babi.systematic import PLANS, TASKS
from tpr_rnn.experiments.grid import Job

# Seconds of one core (results/records/single-task.jsonl): only their proportions count.
_TYPICAL = {
    "1": 4, "2": 52, "3": 608, "4": 3, "5": 142, "6": 37, "7": 67, "8": 54, "9": 29, "10": 62,
    "11": 49, "12": 27, "13": 52, "14": 31, "15": 4, "16": 107, "17": 29, "18": 49, "19": 58,
    "20": 7,
}  # fmt: skip
_BEGINNING = 0.02
"""Below this share of its steps a run says too little about its length."""


def typical(task: str) -> float:
    """What a run of a task costs, in proportion to others."""
    if task == "all":
        return float(sum(_TYPICAL.values()))
    if task in PLANS:
        return float(sum(_TYPICAL[each] for each in TASKS))
    return float(_TYPICAL.get(task, mean(_TYPICAL.values())))


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
