"""The words of bAbI that mean nothing but themselves; those of wide stories are among them.

Where somebody is said to be hungry, places and things mean more: the kitchen, and an apple.
"""

from collections.abc import Iterable

from tpr_rnn.data.dataset import Interchangeable
from tpr_rnn.data.simulator.wide.words import (
    NAME_SLOTS,
    PLACE_SLOTS,
    PLACES,
    PRONOUN_OF,
    THING_SLOTS,
    THINGS,
)
from tpr_rnn.data.simulator.words import OBJECTS


def _called(pronoun: str) -> tuple[str, ...]:
    return tuple(name for name, own in PRONOUN_OF.items() if own == pronoun)


def _without(words: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for word in words if word not in set(others))


INTERCHANGEABLE = Interchangeable(
    kinds={
        "men": _called("he"),
        "women": _called("she"),
        "places": PLACES,
        # Apart from the others, for lists of these three are answers (task 8).
        "things": OBJECTS,
        "other things": _without(THINGS, OBJECTS),
        "new names": NAME_SLOTS,
        "new things": THING_SLOTS,
        "new places": PLACE_SLOTS,
    },
    kept=dict.fromkeys(("20", "wide-motives", "wide-mixed"), ("places", "things", "other things")),
)
