"""The swapped-names test of later work (Park et al. 2024): known names in tasks that lack them.

A model of all tasks knows every name, but tasks 1-3, 6-9 and 11-13 only ever speak of Mary, John,
Daniel and Sandra, tasks 10 and 14 only of Mary, Bill, Fred and Julie. In the test stories of these
tasks the two groups change places; training and validation stay as they are. A model that has
learned rules, and not what certain people do, answers as well as before.
"""

from collections.abc import Mapping

from tpr_rnn.data.dataset import Probe
from tpr_rnn.data.names import with_names

SWAPPED = "swapped-names"
"""The name of this probe."""

_SWAP = {"Daniel": "Bill", "John": "Fred", "Sandra": "Julie"}
_BACK = {new: old for old, new in _SWAP.items()}

SWAPS: Mapping[str, Mapping[str, str]] = {
    **dict.fromkeys(("1", "2", "3", "6", "7", "8", "9"), _SWAP),
    "10": _BACK,
    **dict.fromkeys(("11", "12", "13"), _SWAP),
    "14": _BACK,
}
"""By task, the names that take the place of others. (The published test swaps task 5 too, but does
not score it.)"""


SWAPPED_NAMES = Probe(tasks=tuple(SWAPS), change=lambda task, story: with_names(story, SWAPS[task]))
