"""How a wide story goes: who is in it, which worlds it tells of, how long, and what is asked."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Literal, NamedTuple

from tpr_rnn.data.simulator.scene import Scene
from tpr_rnn.data.simulator.tasks.motives import MOTIVES
from tpr_rnn.data.simulator.wide.kinds import Kinds
from tpr_rnn.data.simulator.wide.maps import NEIGHBOUR, Rooms, Shapes
from tpr_rnn.data.simulator.wide.motives import Motives
from tpr_rnn.data.simulator.wide.people import CARRYING, IS_THERE, NEVER_TOOK, WHERE_IS, People
from tpr_rnn.data.simulator.wide.sizes import Sizes
from tpr_rnn.data.simulator.wide.times import Times
from tpr_rnn.data.simulator.wide.words import (
    NAME_SLOTS,
    NAMES,
    PLACE_SLOTS,
    PLACES,
    PRONOUN_OF,
    THING_SLOTS,
    THINGS,
)
from tpr_rnn.data.simulator.wide.world import NOT_THERE, NOT_TOLD, Cast, World

MakeWorld = Callable[[random.Random, Cast], World]

WORLDS: Mapping[str, MakeWorld] = MappingProxyType(
    {
        "walks": People,
        "things": partial(People, acts=CARRYING),
        "times": Times,
        "kinds": Kinds,
        "rooms": Rooms,
        "shapes": Shapes,
        "sizes": Sizes,
        "motives": Motives,
    }
)

QUESTIONS = 6
"""Questions of a story, on average."""
KEPT: Mapping[str, float] = MappingProxyType(
    {NOT_TOLD: 0.2, NOT_THERE: 0.4, NEVER_TOOK: 0.15, IS_THERE: 0.4, WHERE_IS: 0.6, NEIGHBOUR: 0.5}
)
"""Kinds of questions that are found often: the share of them that is asked."""
LEAST_ASKED = 0.12
"""A long story has more questions: one after so large a share of its sentences."""
STAYS = 0.7
"""How often the next sentence is about the same world as the last one."""
TRIES = 12


class Words(NamedTuple):
    """Names, things and places to choose from."""

    names: tuple[str, ...]
    things: tuple[str, ...]
    places: tuple[str, ...]


KNOWN = Words(NAMES, THINGS, PLACES)
NEW = Words(NAME_SLOTS, THING_SLOTS, PLACE_SLOTS)


@dataclass(frozen=True, kw_only=True)
class Manner:
    """How the stories of a wide task, or of a part of the suite, are told."""

    worlds: tuple[str, ...] = tuple(WORLDS)
    """Worlds to tell of."""
    several: tuple[int, int] = (1, 1)
    """How many of them a story has, at least and at most."""
    sentences: tuple[int, int] | None = None
    """Least and most sentences; None: mostly few, at times some dozens."""
    words: Words = KNOWN
    new_words: Literal["none", "some", "all"] | None = "none"
    """Which words are slots; None: in half of the stories none, else some or all."""
    told_twice: float | None = None
    """Share of the sentences that are told twice in a row; None: in few stories some are."""


def tell(scene: Scene, manner: Manner) -> list[str]:
    """Tell a story and ask about it; returns the kind of each question."""
    rng = scene.rng
    worlds = _worlds(rng, manner)
    least, most = manner.sentences or rng.choice(((1, 4), (2, 8), (4, 14), (10, 40)))
    length = scene.cast.story_length or rng.randint(least, most)
    twice = manner.told_twice
    if twice is None:
        twice = 0.15 if rng.random() < 0.2 else 0.0
    ask_share = max((QUESTIONS - 1) / length, LEAST_ASKED)
    interview = Interview(scene)
    world, last = rng.choice(worlds), None
    while worlds and scene.told < length:
        if world not in worlds or rng.random() > STAYS:
            world = rng.choice(worlds)
        sentence = world.tell(goes_on=world is last)
        if sentence is None:
            worlds.remove(world)
            continue
        last = world
        interview.hear(world)
        for _ in range(2 if rng.random() < twice else 1):
            scene.say(sentence)
        if rng.random() < ask_share:
            interview.ask()
    interview.ask(2)
    while not interview.kinds:
        interview.ask()
    return interview.kinds


class Interview:
    """The questions of a story."""

    def __init__(self, scene: Scene) -> None:
        self.kinds: list[str] = []
        self._scene = scene
        self._worlds: list[World] = []
        self._asked: set[str] = set()
        """What was asked since the last sentence."""

    def hear(self, world: World) -> None:
        """A sentence of a world was told."""
        self._asked.clear()
        if world not in self._worlds:
            self._worlds.append(world)

    def ask(self, most: int = 1) -> None:
        """Ask about what was told, if questions are found that are not too common."""
        rng = self._scene.rng
        for _ in range(TRIES):
            found = rng.choice(self._worlds).ask()
            if found is None or rng.random() > KEPT.get(found.kind, 1.0):
                continue
            if found.text not in self._asked:
                self._asked.add(found.text)
                self._scene.ask(found.text, found.answer, ())
                self.kinds.append(found.kind)
                most -= 1
            if not most:
                return


def _worlds(rng: random.Random, manner: Manner) -> list[World]:
    """Worlds with casts of their own, but for the places, which they share."""
    count = min(rng.randint(*manner.several), len(manner.worlds))
    chosen = rng.sample(manner.worlds, count)
    names, things, places = _draw(rng, manner)
    if "motives" in chosen and count > 1:  # its apple is not to be carried about by others
        things = [thing for thing in things if thing not in {motive.thing for motive in MOTIVES}]
        if len(things) <= count:
            chosen.remove("motives")
            things = _draw(rng, manner)[1]
    absent_name, absent_thing, absent_place = names.pop(), things.pop(), places.pop()
    places = places[: rng.randint(3, 8)]
    # An animal may walk about too: where somebody is says nothing of colours and fears.
    walking = [name for name in chosen if name in ("walks", "things", "times")]
    walkers: tuple[str, ...] = ()
    if "kinds" in chosen and walking and rng.random() < 0.5:
        walkers = _some(rng, names, (1, 6))
    worlds = []
    for name in chosen:
        shared = walkers and name in ("kinds", walking[0])
        cast = Cast(
            names=walkers if shared else _some(rng, names, (1, 6)),
            things=_some(rng, things, (1, 6)),
            places=tuple(places),
            pronouns={**_ANY_PRONOUN[rng.randrange(2)], **PRONOUN_OF},
            absent_name=absent_name,
            absent_thing=absent_thing,
            absent_place=absent_place,
            alone=not shared,
        )
        worlds.append(WORLDS[name](rng, cast))
    return worlds


_ANY_PRONOUN = (
    {name: ("he", "she")[number % 2] for number, name in enumerate(NAME_SLOTS)},
    {name: ("she", "he")[number % 2] for number, name in enumerate(NAME_SLOTS)},
)


def _draw(rng: random.Random, manner: Manner) -> list[list[str]]:
    """All names, things and places that may be in a story, in random order."""
    new = manner.new_words or rng.choice(("none", "none", "some", "all"))
    drawn = []
    for known, slots in zip(manner.words, NEW, strict=True):
        words = (*(known if new != "all" else ()), *(slots if new != "none" else ()))
        drawn.append(rng.sample(words, len(words)))
    return drawn


def _some(rng: random.Random, words: list[str], count: tuple[int, int]) -> tuple[str, ...]:
    """Take some of the words away."""
    number = min(rng.randint(*count), max(len(words) // 2, 1))
    taken, words[:] = words[:number], words[number:]
    return tuple(taken)
