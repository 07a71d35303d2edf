"""Tasks 4, 17 and 19: places north of each other, shapes beside each other, ways to go."""

from tpr_rnn.data.simulator.maps import DIRECTIONS, Edge, Map, opposite
from tpr_rnn.data.simulator.options import Needs, Words
from tpr_rnn.data.simulator.registry import task
from tpr_rnn.data.simulator.scene import Scene
from tpr_rnn.data.simulator.words import ROOMS, SHAPES
from tpr_rnn.errors import UserError

SHAPES_ASKED = 8
RELATIONS = {
    "north": "above",
    "east": "to the right of",
    "south": "below",
    "west": "to the left of",
}


@task("4", "two-arg-relations", Needs(places=Words(official=ROOMS, least=3)))
def what_is_north_of_it(scene: Scene) -> None:
    """Three places lie in a row. What is on one side of one of them?"""
    rng = scene.rng
    first, middle, last = rng.sample(scene.cast.places, 3)
    row = Map(rng)
    direction = rng.choice(DIRECTIONS)
    row.put(middle, direction, beside=first)
    row.put(last, direction, beside=middle)
    edges = row.tour()
    for edge in edges:
        scene.say(_place_sentence(edge))
    number = rng.randrange(len(edges))
    edge = edges[number]
    question = rng.choice(
        (
            f"What is {opposite(edge.direction)} of the {edge.second}?",
            f"What is the {edge.second} {edge.direction} of?",
        )
    )
    scene.ask(question, edge.first, [number])


@task("17", "positional-reasoning", Needs())
def is_it_left_of_it(scene: Scene) -> None:
    """Two shapes stand beside a third one. Is one of them left of the other?"""
    rng = scene.rng
    one, middle, other = rng.sample(SHAPES, 3)
    picture = Map(rng)
    to_one, to_other = rng.sample(DIRECTIONS, 2)
    picture.put(one, to_one, beside=middle)
    picture.put(other, to_other, beside=middle)
    sentence_about: dict[str, int] = {}
    for number, edge in enumerate(picture.tour()):
        scene.say(f"The {edge.second} is {RELATIONS[edge.direction]} the {edge.first}.")
        sentence_about[edge.second if edge.first == middle else edge.first] = number
    for _ in range(SHAPES_ASKED):
        (shape, side), (than, than_side) = rng.sample(((one, to_one), (other, to_other)), 2)
        # A shape north of the middle is above all that stand lower, and so on.
        true = {side, opposite(than_side)}
        answer = rng.choice(("yes", "no"))
        relation = rng.choice([way for way in DIRECTIONS if (way in true) == (answer == "yes")])
        question = f"Is the {shape} {RELATIONS[relation]} the {than}?"
        scene.ask(question, answer, [sentence_about[shape], sentence_about[than]])


@task("19", "path-finding", Needs(places=Words(official=ROOMS, least=3), distractors=3))
def how_to_get_there(scene: Scene) -> None:
    """Two steps lead from a place to another, and other places lie around them. Which steps?"""
    rng, distractors = scene.rng, scene.cast.distractors
    _check_room(len(scene.cast.places), distractors)
    start, middle, end, *others = rng.sample(scene.cast.places, 3 + distractors)
    first = rng.choice(DIRECTIONS)
    second = rng.choice([step for step in DIRECTIONS if step != opposite(first)])
    area = Map(rng)
    area.put(middle, first, beside=start)
    area.put(end, second, beside=middle)
    for other in others:
        while not area.put(other, rng.choice(DIRECTIONS), rng.choice((start, middle, end))):
            pass
    position_of: dict[frozenset[str], int] = {}
    for edge in area.tour():
        position_of[frozenset((edge.first, edge.second))] = scene.say(_place_sentence(edge))
    supports = [position_of[frozenset(step)] for step in ((start, middle), (middle, end))]
    scene.ask(f"How do you go from the {start} to the {end}?", f"{first[0]},{second[0]}", supports)


def _place_sentence(edge: Edge) -> str:
    return f"The {edge.first} is {opposite(edge.direction)} of the {edge.second}."


def _check_room(places: int, distractors: int) -> None:
    free_sides = 8  # of the three places on the way, which have four sides each
    if distractors > free_sides:
        raise UserError(
            f"task 19 has room for at most {free_sides} distractors around the way, "
            f"not {distractors}"
        )
    if places < 3 + distractors:
        raise UserError(
            f"task 19 with {distractors} distractors needs {3 + distractors} places, not {places}"
        )
