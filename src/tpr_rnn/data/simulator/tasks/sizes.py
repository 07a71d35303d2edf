"""Task 18: what fits into what."""

from typing import NamedTuple

from tpr_rnn.data.simulator.options import Needs, Words
from tpr_rnn.data.simulator.registry import task
from tpr_rnn.data.simulator.scene import QUESTIONS, Asked, Scene

SMALLEST_FIRST = ("chocolate", "box of chocolates")
OTHERS = ("box", "chest", "container", "suitcase")
FACTS = 5
# So many times one looks for the five questions before telling more facts.
TRIES = 100


class Fact(NamedTuple):
    """One thing fits into another."""

    small: str
    big: str


@task("18", "size-reasoning", Needs(objects=Words(official=SMALLEST_FIRST + OTHERS, least=3)))
def does_it_fit(scene: Scene) -> None:
    """Some things fit into others. Does one fit into another, by way of a third?"""
    rng, objects = scene.rng, scene.cast.objects
    by_size = [thing for thing in SMALLEST_FIRST if thing in objects]
    others = [thing for thing in objects if thing not in SMALLEST_FIRST]
    by_size += rng.sample(others, len(others))
    facts: list[Fact] = []
    asked = 0
    while asked < QUESTIONS:
        for _ in range(FACTS):
            small, big = sorted(rng.sample(by_size, 2), key=by_size.index)
            facts.append(Fact(small, big))
            fits = f"The {small} fits inside the {big}."
            scene.say(rng.choice((fits, f"The {big} is bigger than the {small}.")))
        asked = 0
        for _ in range(TRIES):
            question = _question(scene, facts, rng.randrange(len(facts)), rng.choice(("yes", "no")))
            if question is not None and asked < QUESTIONS:
                scene.ask(*question)
                asked += 1


def _question(scene: Scene, facts: list[Fact], position: int, answer: str) -> Asked | None:
    """Reason from a fact to a smaller thing for a yes, and to a bigger one for a no."""
    fact = facts[position]
    between = fact.small if answer == "yes" else fact.big
    others = (other for other in range(len(facts)) if other != position and between in facts[other])
    second = next(others, None)
    # Only the first of the other facts about the thing in between is looked at.
    if second is None or facts[second].small == fact.small or facts[second].big == fact.big:
        return None
    if answer == "yes":
        inner, outer = facts[second].small, fact.big
    else:
        inner, outer = facts[second].big, fact.small
    question = scene.rng.choice(
        (f"Does the {inner} fit in the {outer}?", f"Is the {outer} bigger than the {inner}?")
    )
    return Asked(question, answer, (position, second))
