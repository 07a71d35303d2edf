"""Tasks 5, 7 and 8: who gave what to whom, and what or how much someone carries."""

from tpr_rnn.data.simulator.listener import Listener, Told
from tpr_rnn.data.simulator.options import Needs, Words
from tpr_rnn.data.simulator.registry import task
from tpr_rnn.data.simulator.rounds import play_rounds
from tpr_rnn.data.simulator.scene import Asked, Scene
from tpr_rnn.data.simulator.words import FRIENDS, NUMBERS, OBJECTS, PEOPLE, ROOMS
from tpr_rnn.data.simulator.world import Action

WITH_GIVING: tuple[Action, ...] = ("go", "get", "drop", "give")

PLACES = Words(official=ROOMS, least=2)
THINGS = Words(official=OBJECTS, least=1)


@task(
    "5",
    "three-arg-relations",
    Needs(names=Words(official=FRIENDS, least=2), objects=THINGS, places=PLACES, story_length=True),
)
def who_gave_what_to_whom(scene: Scene) -> None:
    """People carry things about and give them to each other. Who gave what to whom?"""
    play_rounds(scene, WITH_GIVING, _gift)


def _gift(scene: Scene, listener: Listener, told: Told) -> Asked | None:
    if told.event.action != "give":
        return None
    thing = told.event.object
    gifts = [gift for gift in listener.told if gift.event.action == "give"]
    last = [gift for gift in gifts if gift.event.object == thing][-1]
    giver, receiver = last.event.actor, last.event.receiver
    # What the one gave to the other last may be another thing.
    given = [
        gift for gift in gifts if gift.event.actor == giver and gift.event.receiver == receiver
    ]
    what = given[-1]
    who = scene.rng.choice((f"Who gave the {thing}?", f"Who gave the {thing} to {receiver}?"))
    whom = scene.rng.choice((f"Who received the {thing}?", f"Who did {giver} give the {thing} to?"))
    return scene.rng.choice(
        (
            Asked(f"What did {giver} give to {receiver}?", what.event.object, (what.position,)),
            Asked(who, giver, (last.position,)),
            Asked(whom, receiver, (last.position,)),
        )
    )


@task(
    "7",
    "counting",
    Needs(
        names=Words(official=PEOPLE, least=1),
        objects=Words(official=OBJECTS, least=1, most=len(NUMBERS) - 1),
        places=PLACES,
        story_length=True,
    ),
)
def how_many_things(scene: Scene) -> None:
    """People carry things about and give them to each other. How many does one carry?"""
    play_rounds(scene, WITH_GIVING, _number)


def _number(scene: Scene, listener: Listener, told: Told) -> Asked | None:
    if told.event.action == "go":
        return None
    actor = told.event.actor
    hands = listener.hands(actor)
    things = {handled.event.object for handled in hands}
    held = sum(listener.holder(thing) == actor for thing in things)
    return Asked(
        f"How many objects is {actor} carrying?",
        NUMBERS[held],
        tuple(handled.position for handled in hands),
    )


@task(
    "8",
    "lists-sets",
    Needs(names=Words(official=PEOPLE, least=1), objects=THINGS, places=PLACES, story_length=True),
)
def which_things(scene: Scene) -> None:
    """People carry things about. What does one of them carry?"""
    play_rounds(scene, ("go", "get", "drop"), _list)


def _list(scene: Scene, listener: Listener, told: Told) -> Asked | None:
    if told.event.action == "go":
        return None
    actor = told.event.actor
    # Answers and supports go thing by thing, in the order in which one first had them.
    by_thing: dict[str, list[int]] = {}
    for handled in listener.hands(actor):
        by_thing.setdefault(handled.event.object, []).append(handled.position)
    held = [thing for thing in by_thing if listener.holder(thing) == actor]
    return Asked(
        f"What is {actor} carrying?",
        ",".join(held) or "nothing",
        tuple(position for positions in by_thing.values() for position in positions),
    )
