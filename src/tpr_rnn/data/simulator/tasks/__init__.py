"""One definition for each task; importing this package enters them all in the registry."""

from tpr_rnn.data.simulator.registry import TASKS
from tpr_rnn.data.simulator.tasks import (
    carrying,
    kinds,
    motives,
    places,
    pronouns,
    sizes,
    times,
    whereabouts,
    yes_or_no,
)

__all__ = [
    "TASKS",
    "carrying",
    "kinds",
    "motives",
    "places",
    "pronouns",
    "sizes",
    "times",
    "whereabouts",
    "yes_or_no",
]
