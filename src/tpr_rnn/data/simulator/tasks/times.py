"""Task 14: where someone was before, when a day is told out of order."""

import random
from typing import NamedTuple

from tpr_rnn.data.simulator import english
from tpr_rnn.data.simulator.options import Needs, Words
from tpr_rnn.data.simulator.registry import task
from tpr_rnn.data.simulator.rounds import RECENT
from tpr_rnn.data.simulator.scene import Scene
from tpr_rnn.data.simulator.words import NEIGHBOURS, TIMES, TOWN
from tpr_rnn.data.simulator.world import World
from tpr_rnn.errors import UserError


class Walk(NamedTuple):
    """A walk; the numbers of an actor's walks say the time of day."""

    actor: str
    place: str
    number: int


@task(
    "14",
    "time-reasoning",
    Needs(
        names=Words(official=NEIGHBOURS, least=1),
        places=Words(official=TOWN, least=2),
        story_length=True,
    ),
)
def where_before(scene: Scene) -> None:
    """People walk once at each time of day. Where was one of them before being somewhere?"""
    rng = scene.rng
    longest = _longest_story(scene)
    world = World(rng, scene.cast)
    walks: list[Walk] = []
    walks_of: dict[str, list[Walk]] = {name: [] for name in scene.cast.names}
    position_of: dict[Walk, int] = {}
    while scene.goes_on() and len(walks) < longest:
        for _ in range(2):
            actor = rng.choice([name for name in walks_of if len(walks_of[name]) < len(TIMES)])
            walk = Walk(actor, world.go_on((actor,)), len(walks_of[actor]))
            walks.append(walk)
            walks_of[actor].append(walk)

        # "Before the park" means before the last time there, if one was there twice.
        last_times = [
            [walk for walk in walks_of[recent.actor] if walk.place == recent.place][-1]
            for recent in walks[-RECENT:]
        ]
        possible = [walk for walk in last_times if walk.number > 0]
        if not possible:
            continue
        for walk in _out_of_order(rng, walks[scene.told :]):
            position_of[walk] = scene.say(_sentence(rng, walk))
        after = rng.choice(possible)
        before = walks_of[after.actor][after.number - 1]
        scene.ask(
            f"Where was {after.actor} before the {after.place}?",
            before.place,
            [position_of[after], position_of[before]],
        )


def _longest_story(scene: Scene) -> int:
    names, length = len(scene.cast.names), scene.cast.story_length
    longest = len(TIMES) * names
    if length is not None and length > longest:
        raise UserError(
            f"task 14 has {len(TIMES)} times of day for each of {names} names, "
            f"so the story length must be {longest} or less, not {length}"
        )
    return longest


def _out_of_order(rng: random.Random, walks: list[Walk]) -> list[Walk]:
    """The walks in a random order in which none stands where it stood (Sattolo's shuffle)."""
    shuffled = list(walks)
    for last in range(len(shuffled) - 1, 0, -1):
        other = rng.randrange(last)
        shuffled[last], shuffled[other] = shuffled[other], shuffled[last]
    return shuffled


def _sentence(rng: random.Random, walk: Walk) -> str:
    time = TIMES[walk.number]
    going = english.going(rng, walk.actor, walk.place)
    return rng.choice((f"{time} {going}.", f"{going} {time}."))
