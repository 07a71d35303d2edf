"""Means and deviations, and what counts as failed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from statistics import mean, stdev

from tpr_rnn.report.published import PAPER_SINGLE

Number = int | float

TASKS = tuple(PAPER_SINGLE)
"""The tasks of the paper's tables."""
FAILED_ABOVE = 5.0
"""A task with more error than this, in percent, has failed (Tables 1 to 3)."""

CONVENTION = (
    "Mean ± standard deviation over seeds, the sample's (divided by n - 1): it is what the paper "
    "prints too, for its appendix B gives the errors of eight runs, and their deviations come out "
    "that way only. Errors are on the test questions, in percent, of the weights that were best on "
    f"validation; a task has failed when its error is over {FAILED_ABOVE:g} %."
)


@dataclass(frozen=True)
class Spread:
    """The mean of some numbers, their deviation, and how many of the wanted ones there are."""

    mean: float
    deviation: float | None
    """None for a single number."""
    count: int | None = None
    """None where others have published no more than mean and deviation."""
    wanted: int | None = None


def spread(numbers: Iterable[Number | None]) -> Spread | None:
    """The spread of the numbers that are there; None if none is."""
    wanted = list(numbers)
    there = [number for number in wanted if number is not None]
    if not there:
        return None
    deviation = stdev(there) if len(there) > 1 else None
    return Spread(float(mean(there)), deviation, len(there), len(wanted))


def two_places(number: float) -> str:
    """Rounded as people do: 0.175 is 0.18, though the nearest binary number is a little less."""
    return str(Decimal(f"{number:.9f}").quantize(Decimal("0.01"), ROUND_HALF_UP))


def mean_of_all(numbers: Sequence[Number | None]) -> float | None:
    """The mean, if none is missing."""
    there = [number for number in numbers if number is not None]
    return float(mean(there)) if there and len(there) == len(numbers) else None


def failed(errors: Sequence[Number | None]) -> int | None:
    """How many failed, if none is missing."""
    there = [error for error in errors if error is not None]
    return sum(error > FAILED_ABOVE for error in there) if len(there) == len(errors) else None
