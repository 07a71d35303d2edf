"""Many stories, in training, validation and test sets of the official sizes."""

import random
from collections.abc import Iterator

from tpr_rnn.data.babi import Story
from tpr_rnn.data.simulator.registry import Task
from tpr_rnn.data.simulator.scene import Scene
from tpr_rnn.data.simulator.wishes import Cast

TEST_QUESTIONS = 1_000

# A story that stands in another set already is told anew so many times. When all of them are
# known, the task has too few stories to keep the sets apart, and one stands in both.
_TRIES = 100


def tell_story(task: Task, cast: Cast, rng: random.Random) -> Story:
    """One story of a task."""
    scene = Scene(rng, cast)
    task.play(scene)
    return scene.story()


def generate_splits(task: Task, cast: Cast, questions: int, seed: int) -> dict[str, list[Story]]:
    """Stories with `questions` questions for training and validation, and 1,000 for the test."""
    valid = -(-questions // 10)
    sizes = {"test": TEST_QUESTIONS, "valid": valid, "train": questions - valid}
    elsewhere: set[Story] = set()
    splits: dict[str, list[Story]] = {}
    # The test set comes first, so that it is the same however many stories are trained on.
    for name, size in sizes.items():
        # A text seeds the same numbers in every process (hash() of a text would not).
        rng = random.Random(f"task {task.number}, seed {seed}, {name}")
        splits[name] = list(_stories(task, cast, rng, size, elsewhere))
        elsewhere.update(splits[name])
    return {name: splits[name] for name in ("train", "valid", "test")}


def _stories(
    task: Task, cast: Cast, rng: random.Random, questions: int, elsewhere: set[Story]
) -> Iterator[Story]:
    while questions > 0:
        for _ in range(_TRIES):
            story = _cut(tell_story(task, cast, rng), questions)
            if story not in elsewhere:
                break
        questions -= len(story.questions)
        yield story


def _cut(story: Story, questions: int) -> Story:
    """The story up to its last question, of which there are `questions` at most."""
    kept = story.questions[:questions]
    return Story(story.sentences[: kept[-1].after], kept)
