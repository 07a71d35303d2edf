"""Tasks 6, 9 and 10: is someone in a place? Yes, no or maybe."""

from typing import Literal, NamedTuple

from tpr_rnn.data.simulator import english
from tpr_rnn.data.simulator.listener import Listener, Told
from tpr_rnn.data.simulator.options import Needs, Words
from tpr_rnn.data.simulator.registry import task
from tpr_rnn.data.simulator.rounds import RECENT, play_rounds
from tpr_rnn.data.simulator.scene import Asked, Scene
from tpr_rnn.data.simulator.words import NEIGHBOURS, OBJECTS, PEOPLE, ROOMS, TOWN
from tpr_rnn.data.simulator.world import Event, World

NAMES = Words(official=PEOPLE, least=1)
THINGS = Words(official=OBJECTS, least=1)
PLACES = Words(official=ROOMS, least=2)

Way = Literal["walked", "is", "left", "either"]


class Claim(NamedTuple):
    """What a sentence says about where someone is."""

    walk: Event
    way: Way
    places: tuple[str, ...]
    """The places it speaks of: where they are, where they no longer are, or two possible ones."""
    position: int


@task(
    "6",
    "yes-no-questions",
    Needs(names=NAMES, objects=THINGS, places=PLACES, story_length=True),
)
def is_someone_there(scene: Scene) -> None:
    """People walk and carry things about. Is one of those who walked in a certain place?"""
    play_rounds(scene, ("go", "get", "drop"), _presence)


def _presence(scene: Scene, listener: Listener, told: Told) -> Asked | None:
    if told.event.action != "go":
        return None
    actor = told.event.actor
    walk = listener.walks(actor)[-1]
    asked = _true_or_other_place(scene, walk.event.place)
    answer = "yes" if asked == walk.event.place else "no"
    return Asked(f"Is {actor} in the {asked}?", answer, (walk.position,))


@task("9", "simple-negation", Needs(names=NAMES, places=PLACES, story_length=True))
def is_someone_gone(scene: Scene) -> None:
    """Of some walks, one hears only where someone no longer is. Are they in a certain place?"""
    _play_claims(scene, ("walked", "walked", "is", "left"))


@task(
    "10",
    "indefinite-knowledge",
    Needs(
        names=Words(official=NEIGHBOURS, least=1),
        places=Words(official=TOWN, least=2),
        story_length=True,
    ),
)
def is_someone_perhaps_there(scene: Scene) -> None:
    """Of some walks, one hears two places of which one is true. Are they in a certain place?"""
    _play_claims(scene, ("walked", "walked", "is", "either"))


def _play_claims(scene: Scene, ways: tuple[Way, ...]) -> None:
    world, claims = World(scene.rng, scene.cast), list[Claim]()
    while scene.goes_on():
        for _ in range(2):
            claims.append(_claim(scene, world.next_event(("go",)), scene.rng.choice(ways)))
        actor = scene.rng.choice(claims[-RECENT:]).walk.actor
        walk, way, places, position = [claim for claim in claims if claim.walk.actor == actor][-1]
        # Of someone who left a place, one only knows that they are not there.
        asked = walk.origin if way == "left" else _true_or_other_place(scene, walk.place)
        if way == "left" or asked not in places:
            answer = "no"
        else:
            answer = "maybe" if way == "either" else "yes"
        scene.ask(f"Is {actor} in the {asked}?", answer, [position])


def _claim(scene: Scene, walk: Event, way: Way) -> Claim:
    rng, actor = scene.rng, walk.actor
    places: tuple[str, ...] = (walk.place,)
    if way == "walked":
        sentence = english.sentence(rng, walk)
    elif way == "is":
        sentence = f"{actor} is in the {walk.place}."
    elif way == "left":
        places = (walk.origin,)
        sentence = f"{actor} is {rng.choice(('not', 'no longer'))} in the {walk.origin}."
    else:
        # The other place may be the same: "either in the park or the park" is official English.
        places = tuple(rng.sample((walk.place, rng.choice(scene.cast.places)), 2))
        sentence = f"{actor} is either in the {places[0]} or the {places[1]}."
    return Claim(walk, way, places, scene.say(sentence))


def _true_or_other_place(scene: Scene, place: str) -> str:
    """The place itself half of the time, and any of the others otherwise."""
    others = [other for other in scene.cast.places if other != place]
    return place if scene.rng.random() < 0.5 else scene.rng.choice(others)
