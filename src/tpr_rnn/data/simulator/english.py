"""What happened, in the sentences of the official stories."""

import random

from tpr_rnn.data.simulator.words import DROPPED, GAVE, GOT, WENT
from tpr_rnn.data.simulator.world import Event

# How often a sentence about something dropped ends with "there".
DROPPED_THERE = 0.2


def going(rng: random.Random, who: str, place: str) -> str:
    """Someone goes somewhere; the full stop is left out, for a sentence may go on."""
    return f"{who} {rng.choice(WENT)} to the {place}"


def sentence(rng: random.Random, event: Event, got_there: float = 1.0) -> str:
    """An event in words; getting something is told with "there" in a share `got_there`."""
    actor, thing = event.actor, event.object
    if event.action == "go":
        return going(rng, actor, event.place) + "."
    if event.action == "give":
        return f"{actor} {rng.choice(GAVE)} the {thing} to {event.receiver}."
    verbs, share = (GOT, got_there) if event.action == "get" else (DROPPED, DROPPED_THERE)
    there = " there" if rng.random() < share else ""
    return f"{actor} {rng.choice(verbs)} the {thing}{there}."
