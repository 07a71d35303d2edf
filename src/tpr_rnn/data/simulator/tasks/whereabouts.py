"""Tasks 1 to 3: where someone or something is, as told in one, two or three sentences."""

from tpr_rnn.data.simulator.listener import Listener, Told
from tpr_rnn.data.simulator.options import Needs, Words
from tpr_rnn.data.simulator.registry import task
from tpr_rnn.data.simulator.rounds import play_rounds
from tpr_rnn.data.simulator.scene import Asked, Scene
from tpr_rnn.data.simulator.words import OBJECTS, PEOPLE, ROOMS

NAMES = Words(official=PEOPLE, least=1)
PLACES = Words(official=ROOMS, least=2)
THINGS = Words(official=OBJECTS, least=1)


@task("1", "single-supporting-fact", Needs(names=NAMES, places=PLACES, story_length=True))
def where_is_someone(scene: Scene) -> None:
    """People walk about. Where is one of them?"""
    play_rounds(scene, ("go",), _whereabouts)


def _whereabouts(scene: Scene, listener: Listener, told: Told) -> Asked:
    actor = told.event.actor
    walk = listener.walks(actor)[-1]
    return Asked(f"Where is {actor}?", walk.event.place, (walk.position,))


@task(
    "2",
    "two-supporting-facts",
    Needs(names=NAMES, objects=THINGS, places=PLACES, story_length=True),
)
def where_is_something(scene: Scene) -> None:
    """People carry things about. Where is a thing that was dropped, or carried elsewhere?"""
    play_rounds(scene, ("go", "get", "drop"), _place_of_thing)


def _place_of_thing(scene: Scene, listener: Listener, told: Told) -> Asked | None:
    if told.event.action == "go":
        return None
    thing = told.event.object
    last = listener.handled(thing)[-1]
    dropped = last.event.action == "drop"
    walk = listener.last_walk(last.event.actor, before=last.position if dropped else None)
    # A thing that was taken but not carried anywhere takes one fact only.
    if walk is None or not (dropped or walk.position > last.position):
        return None
    return Asked(f"Where is the {thing}?", walk.event.place, (last.position, walk.position))


@task(
    "3",
    "three-supporting-facts",
    Needs(names=NAMES, objects=THINGS, places=PLACES, story_length=True),
)
def where_was_something(scene: Scene) -> None:
    """People carry things about. Where was a thing before it was carried to a place?"""
    play_rounds(scene, ("go", "get", "drop"), _place_before, got_there=0.2)


def _place_before(scene: Scene, listener: Listener, told: Told) -> Asked | None:
    if told.event.action == "go":
        return None
    thing = told.event.object
    last = listener.handled(thing)[-1]
    carried = _carried(listener, thing)
    # "Before the kitchen" means before the last time there, if it was carried there twice.
    last_time = {walk.event.place: number for number, walk in enumerate(carried)}
    numbers = [last_time[walk.event.place] for walk in carried]
    possible = [number for number in numbers if number > 0]
    if not possible:
        return None
    number = scene.rng.choice(possible)
    before, after = carried[number - 1 : number + 1]
    return Asked(
        f"Where was the {thing} before the {after.event.place}?",
        before.event.place,
        (last.position, after.position, before.position),
    )


def _carried(listener: Listener, thing: str) -> list[Told]:
    """The walks on which a thing was last carried along."""
    handled = listener.handled(thing)
    last = handled[-1]
    dropped = last.event.action == "drop"
    taken = handled[-2].position if dropped else last.position
    end = last.position if dropped else len(listener.told)
    return [walk for walk in listener.walks(last.event.actor) if taken < walk.position < end]
