"""Many stories, in training, validation and test sets of the official sizes."""

import random
import zlib

from tpr_rnn.data.babi.format import format_story
from tpr_rnn.data.simulator.options import Cast
from tpr_rnn.data.simulator.registry import Task
from tpr_rnn.data.simulator.scene import Scene
from tpr_rnn.data.story import Story

TEST_QUESTIONS = 1_000

# When so many stories in a row belong to sets that are full already, a task has too few
# different ones to keep its sets apart.
_PATIENCE = 2_000


def tell_story(task: Task, cast: Cast, rng: random.Random) -> Story:
    """One story of a task."""
    scene = Scene(rng, cast)
    task.play(scene)
    return scene.story()


def generate_splits(task: Task, cast: Cast, questions: int, seed: int) -> dict[str, list[Story]]:
    """Stories with `questions` questions for training and validation, and 1,000 for the test.

    The last story of a set is cut to keep these numbers, unless a length was wished for: then all
    stories stay whole, and a set may have some questions more.
    """
    valid = -(-questions // 10)
    missing = {"train": questions - valid, "valid": valid, "test": TEST_QUESTIONS}
    splits: dict[str, list[Story]] = {name: [] for name in missing}
    # A text seeds the same numbers in every process (its hash() would not).
    rng = random.Random(f"task {task.name}, seed {seed}")
    in_vain = 0
    while any(missing.values()):
        told = tell_story(task, cast, rng)
        name = home(told)
        story = _cut(told, missing[name], cast)
        if missing[name] and home(story) == name:
            in_vain = 0
        elif in_vain < _PATIENCE:
            in_vain += 1
            continue
        else:
            name = max(missing, key=lambda name: missing[name])
            story = _cut(told, missing[name], cast)
        splits[name].append(story)
        missing[name] = max(missing[name] - len(story.questions), 0)
    return splits


def home(story: Story) -> str:
    """The set a story belongs to, by its text alone, in the proportions of the official sets.

    So a story never stands in two sets, not even in those told with different seeds.
    """
    number = zlib.crc32(format_story(story).encode()) % 11
    return {9: "valid", 10: "test"}.get(number, "train")


def _cut(story: Story, questions: int, cast: Cast) -> Story:
    """The story up to its last question, of which there are `questions` at most."""
    if cast.story_length is not None:
        return story
    kept = story.questions[:questions]
    return Story(story.sentences[: kept[-1].after if kept else 0], kept)
