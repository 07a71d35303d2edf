"""What the sentences and questions of bAbI say, taken apart: who, did what, with what, where.

A small reader of bAbI's English by patterns. It serves to measure what learned representations
hold, and knows nothing of any model. Each text gets the aspects that it has: `event` (the kind of
event, or of question), `actor` (who or what it is about), `object`, `receiver`, `place`, `time`.
"""

import re
from collections.abc import Sequence

from tpr_rnn.data.simulator.maps import DIRECTIONS
from tpr_rnn.data.simulator.words import DROPPED, GAVE, GOT, THEN, TIMES, WENT

ASPECTS = ("event", "actor", "object", "receiver", "place", "time")

_SIDES = ("above", "below", "to the left of", "to the right of")


def _one_of(words: Sequence[str]) -> str:
    return "(?:" + "|".join(words) + ")"


_ACTOR = r"(?P<actor>\w+)"
_OBJECT = r"the (?P<object>\w+)"
_PLACE = r"the (?P<place>\w+)"
_THINGS = r"the (?P<actor>[\w ]+?) {} the (?P<object>[\w ]+)"
_TIME = rf"(?P<time>{_one_of(TIMES)})"
_GOES = rf"{_one_of(WENT)} to {_PLACE}"

# An event with a name in the pattern, such as a direction, is called by that name.
_SENTENCES = (
    ("go", rf"(?:{_one_of(THEN)} )?(?P<actor>\w+(?: and \w+)?) {_GOES}"),
    ("go", rf"{_TIME} {_ACTOR} {_GOES}"),
    ("go", rf"{_ACTOR} {_GOES} {_TIME}"),
    ("get", rf"{_ACTOR} {_one_of(GOT)} {_OBJECT}(?: there)?"),
    ("drop", rf"{_ACTOR} {_one_of(DROPPED)} {_OBJECT}(?: there)?"),
    ("give", rf"{_ACTOR} {_one_of(GAVE)} {_OBJECT} to (?P<receiver>\w+)"),
    ("be in", rf"{_ACTOR} is in {_PLACE}"),
    ("not be in", rf"{_ACTOR} is (?:not|no longer) in {_PLACE}"),
    ("be in either", rf"{_ACTOR} is either in the (?P<place>\w+ or the \w+)"),
    ("", rf"the (?P<actor>\w+) is (?P<event>{_one_of(DIRECTIONS)}) of {_PLACE}"),
    ("", _THINGS.format(rf"is (?P<event>{_one_of(_SIDES)})")),
    ("fit", _THINGS.format("fits inside")),
    ("be bigger", _THINGS.format("is bigger than")),
    ("fear", rf"{_ACTOR} are afraid of (?P<object>\w+)"),
    ("be a kind", rf"{_ACTOR} is a (?P<object>\w+)"),
    ("be so", rf"{_ACTOR} is (?P<object>\w+)"),
)
_QUESTIONS = (
    ("where is", rf"where is (?:{_OBJECT}|{_ACTOR})"),
    ("where before", rf"where was (?:{_OBJECT}|{_ACTOR}) before {_PLACE}"),
    ("", rf"what is (?P<event>{_one_of(DIRECTIONS)}) of {_PLACE}"),
    ("", rf"what is {_PLACE} (?P<event>{_one_of(DIRECTIONS)} of)"),
    ("what given", rf"what did {_ACTOR} give to (?P<receiver>\w+)"),
    ("who gave", rf"who gave {_OBJECT}(?: to (?P<receiver>\w+))?"),
    ("to whom", rf"who received {_OBJECT}"),
    ("to whom", rf"who did {_ACTOR} give {_OBJECT} to"),
    ("is in", rf"is {_ACTOR} in {_PLACE}"),
    ("how many", rf"how many objects is {_ACTOR} carrying"),
    ("what carried", rf"what is {_ACTOR} carrying"),
    ("what feared", rf"what is {_ACTOR} afraid of"),
    ("what colour", rf"what color is {_ACTOR}"),
    ("", "is " + _THINGS.format(rf"(?P<event>{_one_of(_SIDES)})")),
    ("fits", "does " + _THINGS.format("fit in")),
    ("is bigger", "is " + _THINGS.format("bigger than")),
    ("which way", rf"how do you go from the (?P<actor>\w+) to {_PLACE}"),
    ("where will go", rf"where will {_ACTOR} go"),
    ("why go", rf"why did {_ACTOR} go to {_PLACE}"),
    ("why get", rf"why did {_ACTOR} get {_OBJECT}"),
)


def aspects(text: str) -> dict[str, str]:
    """The aspects of a sentence or question; none if it is not of bAbI's English."""
    patterns = _QUESTIONS if text.rstrip().endswith("?") else _SENTENCES
    plain = " ".join(text.lower().rstrip(" .?").split())
    for event, pattern in patterns:
        found = re.fullmatch(pattern, plain)
        if found is not None:
            said = {name: words for name, words in found.groupdict().items() if words}
            return {"event": event} | said
    return {}
