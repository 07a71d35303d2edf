"""Wide stories: every task's world without the habits of the official files.

    simulator.tell("wide-things", seed=0)
    simulator.generate("wide-things", questions=40_000)

docs/wide.md has the rules of meaning.
"""

from functools import partial

from tpr_rnn.data.simulator.options import Needs
from tpr_rnn.data.simulator.registry import Task
from tpr_rnn.data.simulator.scene import Scene
from tpr_rnn.data.simulator.wide.telling import WORLDS, Manner, tell

MANNERS: dict[str, Manner] = {
    **{f"wide-{world}": Manner(worlds=(world,), new_words=None) for world in WORLDS},
    "wide-mixed": Manner(several=(2, 3), new_words=None),
    "wide-long": Manner(
        worlds=("walks", "things"), several=(1, 2), sentences=(40, 300), new_words=None
    ),
}
"""The wide tasks: one for each world, one of several worlds in a story, one of long ones."""


def _play(scene: Scene, manner: Manner) -> None:
    tell(scene, manner)


WIDE_TASKS: dict[str, Task] = {
    name: Task(name, name, Needs(story_length=True), partial(_play, manner=manner))
    for name, manner in MANNERS.items()
}
