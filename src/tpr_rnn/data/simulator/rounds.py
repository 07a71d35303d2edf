"""The rhythm of most official stories: two events, and a question about a recent one."""

from collections.abc import Callable

from tpr_rnn.data.simulator import english
from tpr_rnn.data.simulator.listener import Listener, Told
from tpr_rnn.data.simulator.scene import Asked, Scene
from tpr_rnn.data.simulator.world import Action, World

# Questions are about something that happened among the last five events.
RECENT = 5

AskAbout = Callable[[Scene, Listener, Told], Asked | None]


def play_rounds(
    scene: Scene, actions: tuple[Action, ...], ask_about: AskAbout, got_there: float = 1.0
) -> None:
    """Let two things happen, ask about a recent one if `ask_about` has a question, and so on."""
    world, listener = World(scene.rng, scene.cast), Listener()
    while scene.goes_on():
        for _ in range(2):
            event = world.next_event(actions)
            listener.hear(event, scene.say(english.sentence(scene.rng, event, got_there)))
        recent = listener.told[-RECENT:]
        possible = [asked for told in recent if (asked := ask_about(scene, listener, told))]
        if possible:
            scene.ask(*scene.rng.choice(possible))
