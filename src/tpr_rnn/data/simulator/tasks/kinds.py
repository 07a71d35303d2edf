"""Tasks 15 and 16: what holds for a kind holds for its members, and the other way round."""

import random

from tpr_rnn.data.simulator.options import Needs, Words
from tpr_rnn.data.simulator.registry import task
from tpr_rnn.data.simulator.scene import Scene

PLURALS = {"mouse": "mice", "wolf": "wolves", "cat": "cats", "sheep": "sheep"}
FEARS_ASKED = 4
ANIMALS = ("swan", "lion", "frog", "rhino")
COLOURS = ("gray", "white", "yellow", "green")


@task(
    "15",
    "basic-deduction",
    Needs(
        names=Words(official=("Gertrude", "Winona", "Jessica", "Emily"), least=1),
        own_words=(*PLURALS, *PLURALS.values()),
    ),
)
def what_is_one_afraid_of(scene: Scene) -> None:
    """Each animal is afraid of another one, and each name is an animal. What is it afraid of?

    What an animal fears is told before anyone is said to be one, as in the official stories.
    """
    rng, names, animals = scene.rng, scene.cast.names, list(PLURALS)
    fears: dict[str, tuple[str, int]] = {}
    kinds: dict[str, tuple[str, int]] = {}
    while len(fears) < len(animals) or len(kinds) < len(names):
        name, animal = rng.choice(names), rng.choice(animals)
        if rng.random() < 0.5:
            if animal not in fears:
                feared = rng.choice([other for other in animals if other != animal])
                told = scene.say(f"{PLURALS[animal]} are afraid of {PLURALS[feared]}.")
                fears[animal] = (feared, told)
        elif animal in fears and name not in kinds:
            kinds[name] = (animal, scene.say(f"{name} is a {animal}."))
    for _ in range(FEARS_ASKED):
        name = rng.choice(names)
        animal, kind_told = kinds[name]
        feared, fear_told = fears[animal]
        scene.ask(f"What is {name.lower()} afraid of?", feared, [kind_told, fear_told])


@task(
    "16",
    "basic-induction",
    Needs(
        names=Words(official=("Lily", "Bernhard", "Greg", "Julius", "Brian"), least=2),
        own_words=ANIMALS + COLOURS,
    ),
)
def what_color_is_one(scene: Scene) -> None:
    """Each name is an animal of some colour, but one colour is not told. Which one is it?

    Animals of a kind have one colour until another of that kind is told of, then perhaps a new
    one, so the last one told of among the others of its kind shows the colour. As in the official
    stories, nobody is asked about who has no other or just two others of a kind.
    """
    rng, names = scene.rng, scene.cast.names
    others = 0
    while others in (0, 2):
        kinds = {name: rng.choice(ANIMALS) for name in names}
        *steps, asked = _each_twice(rng, names)
        others = sum(kinds[name] == kinds[asked] for name in names) - 1

    # A name's first step tells its kind, and its second one its colour.
    colour_of_kind: dict[str, str] = {}
    kind_told: dict[str, int] = {}
    colour_told: dict[str, tuple[str, int]] = {}
    for name in steps:
        kind = kinds[name]
        if name not in kind_told:
            colour_of_kind[kind] = rng.choice(COLOURS)
            kind_told[name] = scene.say(f"{name} is a {kind}.")
        else:
            colour = colour_of_kind[kind]
            colour_told[name] = (colour, scene.say(f"{name} is {colour}."))
    like = [name for name in kind_told if kinds[name] == kinds[asked] and name != asked][-1]
    colour, position = colour_told[like]
    supports = [kind_told[asked], kind_told[like], position]
    scene.ask(f"What color is {asked}?", colour, supports)


def _each_twice(rng: random.Random, names: tuple[str, ...]) -> list[str]:
    left = dict.fromkeys(names, 2)
    order = []
    while left:
        name = rng.choice(list(left))
        order.append(name)
        left[name] -= 1
        if left[name] == 0:
            del left[name]
    return order
