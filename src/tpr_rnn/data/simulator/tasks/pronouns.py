"""Tasks 11 to 13: he, she and they, and two who walk together."""

from tpr_rnn.data.simulator import english
from tpr_rnn.data.simulator.options import Needs, Words
from tpr_rnn.data.simulator.registry import task
from tpr_rnn.data.simulator.rounds import RECENT
from tpr_rnn.data.simulator.scene import Scene
from tpr_rnn.data.simulator.words import PEOPLE, ROOMS, THEN
from tpr_rnn.data.simulator.world import World

PAIR = Words(official=PEOPLE, least=2)
# With two places, two people who are apart could never go anywhere together.
PLACES = Words(official=ROOMS, least=3)


class Walks:
    """Where those who walked are now, with the sentences from which one knows it."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._walked: list[str] = []
        self._known: dict[str, tuple[str, tuple[int, ...]]] = {}

    def hear(self, actors: tuple[str, ...], place: str, *sentences: int) -> None:
        """Take in that `actors` went to `place`."""
        self._walked += actors
        self._known.update(dict.fromkeys(actors, (place, sentences)))

    def ask(self) -> None:
        """Ask where someone is who was among the last to walk."""
        actor = self._scene.rng.choice(self._walked[-RECENT:])
        self._scene.ask(f"Where is {actor}?", *self._known[actor])


@task(
    "11",
    "basic-coreference",
    Needs(
        names=Words(official=PEOPLE, least=1),
        places=Words(official=ROOMS, least=2),
        story_length=True,
        pronouns=True,
    ),
)
def where_is_he_or_she(scene: Scene) -> None:
    """Each who walks walks on at once, as "he" or "she". Where is one of them?"""
    world, walks, rng = World(scene.rng, scene.cast), Walks(scene), scene.rng
    while scene.goes_on():
        actors, place = world.go_together(1)
        first = scene.say(english.going(rng, actors[0], place) + ".")
        walks.hear(actors, place, first)
        place = world.go_on(actors)
        who = f"{rng.choice(THEN)} {scene.cast.pronouns[actors[0]]}"
        walks.hear(actors, place, first, scene.say(english.going(rng, who, place) + "."))
        walks.ask()


@task("12", "conjunction", Needs(names=PAIR, places=PLACES, story_length=True))
def where_are_two(scene: Scene) -> None:
    """People walk two by two. Where is one of them?"""
    world, walks = World(scene.rng, scene.cast), Walks(scene)
    while scene.goes_on():
        for _ in range(2):
            actors, place = world.go_together(2)
            sentence = english.going(scene.rng, " and ".join(actors), place) + "."
            walks.hear(actors, place, scene.say(sentence))
        walks.ask()


@task("13", "compound-coreference", Needs(names=PAIR, places=PLACES, story_length=True))
def where_are_they(scene: Scene) -> None:
    """People walk two by two and walk on at once, as "they". Where is one of them?"""
    world, walks, rng = World(scene.rng, scene.cast), Walks(scene), scene.rng
    while scene.goes_on():
        actors, place = world.go_together(2)
        first = scene.say(english.going(rng, " and ".join(actors), place) + ".")
        walks.hear(actors, place, first)
        place = world.go_on(actors)
        who = f"{rng.choice(THEN)} they"
        walks.hear(actors, place, first, scene.say(english.going(rng, who, place) + "."))
        walks.ask()
