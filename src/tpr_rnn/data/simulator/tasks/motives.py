"""Task 20: why people go where they go."""

from typing import NamedTuple

from tpr_rnn.data.simulator import english
from tpr_rnn.data.simulator.options import Needs, Words
from tpr_rnn.data.simulator.registry import task
from tpr_rnn.data.simulator.scene import Scene
from tpr_rnn.data.simulator.world import Event


class Motive(NamedTuple):
    """How someone feels, where that leads them, and what they get there."""

    feeling: str
    place: str
    thing: str


MOTIVES = (
    Motive("hungry", "kitchen", "apple"),
    Motive("thirsty", "kitchen", "milk"),
    Motive("bored", "garden", "football"),
    Motive("tired", "bedroom", "pajamas"),
)
FEELS, GOES, GETS = range(3)


@task(
    "20",
    "agents-motivations",
    Needs(
        names=Words(official=("Jason", "Antoine", "Sumit", "Yann"), least=1),
        own_words=tuple(word for motive in MOTIVES for word in motive),
    ),
)
def why_did_one_go(scene: Scene) -> None:
    """People feel something, go somewhere and get something. Where will they go, and why?"""
    rng = scene.rng
    motives = {name: rng.choice(MOTIVES) for name in scene.cast.names}
    next_step = dict.fromkeys(motives, FEELS)
    feeling_told: dict[str, int] = {}
    things = [motive.thing for motive in MOTIVES]  # one of each: who comes too late gets none
    while active := [
        name
        for name, step in next_step.items()
        if step < GETS or (step == GETS and motives[name].thing in things)
    ]:
        name = rng.choice(active)
        feeling, place, thing = motives[name]
        asked = name.lower()  # as in the official questions
        if next_step[name] == FEELS:
            feeling_told[name] = scene.say(f"{name} is {feeling}.")
            scene.ask(f"Where will {asked} go?", place, [feeling_told[name]])
        elif next_step[name] == GOES:
            scene.say(english.going(rng, name, place) + ".")
            scene.ask(f"Why did {asked} go to the {place}?", feeling, [feeling_told[name]])
        else:
            things.remove(thing)
            scene.say(english.sentence(rng, Event("get", name, place, object=thing)))
            scene.ask(f"Why did {asked} get the {thing}?", feeling, [feeling_told[name]])
        next_step[name] += 1
