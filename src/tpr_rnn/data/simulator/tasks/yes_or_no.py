"""Tasks 6, 9 and 10: is someone in a place? Yes, no or maybe."""

from tpr_rnn.data.simulator import english
from tpr_rnn.data.simulator.listener import Listener, Told
from tpr_rnn.data.simulator.registry import task
from tpr_rnn.data.simulator.scene import Asked, Scene
from tpr_rnn.data.simulator.wishes import Needs, Words
from tpr_rnn.data.simulator.words import NEIGHBOURS, OBJECTS, PEOPLE, ROOMS, TOWN
from tpr_rnn.data.simulator.world import World

NAMES = Words(official=PEOPLE, least=1)
PLACES = Words(official=ROOMS, least=2)


@task(
    6,
    "yes-no-questions",
    Needs(
        names=NAMES,
        objects=Words(official=OBJECTS, least=1),
        places=PLACES,
        story_length=True,
    ),
)
def is_someone_there(scene: Scene) -> None:
    """People walk and carry things about. Is one of those who walked in a certain place?"""
    world, listener = World(scene.rng, scene.cast), Listener()

    def question(told: Told) -> Asked | None:
        if told.event.action != "go":
            return None
        actor = told.event.actor
        walk = listener.walks(actor)[-1]
        asked = _true_or_other_place(scene, walk.event.place)
        answer = "yes" if asked == walk.event.place else "no"
        return Asked(f"Is {actor} in the {asked}?", answer, (walk.position,))

    while scene.goes_on():
        for _ in range(2):
            event = world.next_event(("go", "get", "drop"))
            listener.hear(event, scene.say(english.sentence(scene.rng, event)))
        listener.ask_about_recent(scene, question)


@task(9, "simple-negation", Needs(names=NAMES, places=PLACES, story_length=True))
def is_someone_gone(scene: Scene) -> None:
    """Of some walks, one hears only where someone no longer is. Are they in a certain place?"""
    world, listener, rng = World(scene.rng, scene.cast), Listener(), scene.rng
    left: dict[int, str] = {}  # position of a sentence that tells only a place someone left

    def question(told: Told) -> Asked:
        actor = told.event.actor
        walk = listener.walks(actor)[-1]
        if walk.position in left:
            return Asked(f"Is {actor} in the {left[walk.position]}?", "no", (walk.position,))
        asked = _true_or_other_place(scene, walk.event.place)
        answer = "yes" if asked == walk.event.place else "no"
        return Asked(f"Is {actor} in the {asked}?", answer, (walk.position,))

    while scene.goes_on():
        for _ in range(2):
            walk = world.next_event(("go",))
            way = rng.choice(("walked", "walked", "is", "left"))
            if way == "walked":
                sentence = english.sentence(rng, walk)
            elif way == "is":
                sentence = f"{walk.actor} is in the {walk.place}."
            else:
                sentence = (
                    f"{walk.actor} is {rng.choice(('not', 'no longer'))} in the {walk.origin}."
                )
                left[scene.told] = walk.origin
            listener.hear(walk, scene.say(sentence))
        listener.ask_about_recent(scene, question)


@task(
    10,
    "indefinite-knowledge",
    Needs(
        names=Words(official=NEIGHBOURS, least=1),
        places=Words(official=TOWN, least=2),
        story_length=True,
    ),
)
def is_someone_perhaps_there(scene: Scene) -> None:
    """Of some walks, one hears only two places of which one is true. Are they in one of them?"""
    world, listener, rng = World(scene.rng, scene.cast), Listener(), scene.rng
    either: dict[int, tuple[str, str]] = {}  # position of a sentence that tells two places

    def question(told: Told) -> Asked:
        actor = told.event.actor
        walk = listener.walks(actor)[-1]
        asked = _true_or_other_place(scene, walk.event.place)
        answer = "yes" if asked == walk.event.place else "no"
        if asked in either.get(walk.position, ()):
            answer = "maybe"
        return Asked(f"Is {actor} in the {asked}?", answer, (walk.position,))

    while scene.goes_on():
        for _ in range(2):
            walk = world.next_event(("go",))
            way = rng.choice(("walked", "walked", "is", "either"))
            if way == "walked":
                sentence = english.sentence(rng, walk)
            elif way == "is":
                sentence = f"{walk.actor} is in the {walk.place}."
            else:
                # The other place may be the same one: "either in the park or the park".
                places = (walk.place, rng.choice(scene.cast.places))
                one, other = rng.sample(places, 2)
                sentence = f"{walk.actor} is either in the {one} or the {other}."
                either[scene.told] = (one, other)
            listener.hear(walk, scene.say(sentence))
        listener.ask_about_recent(scene, question)


def _true_or_other_place(scene: Scene, place: str) -> str:
    """The place itself half of the time, and any of the others otherwise."""
    others = [other for other in scene.cast.places if other != place]
    return place if scene.rng.random() < 0.5 else scene.rng.choice(others)
