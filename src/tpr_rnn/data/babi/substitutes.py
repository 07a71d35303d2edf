"""Training stories for a task whose official training file cannot be had.

Generated stories take its place, and with them the official stories that are at hand: those of the
1k set are a part of the missing file. What stands in valid or test is left out.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tpr_rnn.data.babi.directory import find_files
from tpr_rnn.data.babi.format import read_stories
from tpr_rnn.data.simulator import TASK_TITLES, generate
from tpr_rnn.data.story import Story

QUESTIONS = 9_000
"""Generated questions: as many as an official 10k training file has."""
SEED = 0


def available(task: str, files: Mapping[str, Path]) -> bool:
    """Whether the training file is all that a task lacks, and the simulator knows the task."""
    return set(files) == {"valid", "test"} and task in TASK_TITLES


def training_stories(task: str, files: Mapping[str, Path]) -> tuple[list[Story], str]:
    """Stories for a task without a training file, and a sentence on where they come from.

    Args:
        task: the task.
        files: its validation and test files; the 1k set is looked for beside their directory,
            in `en`.
    """
    held_out = {as_told(story) for path in files.values() for story in read_stories(path)}
    # A tenth of what is generated is for validation, which the task has.
    generated = generate(task, questions=QUESTIONS * 10 // 9, seed=SEED)["train"]
    sources = {f"generated stories (simulator, seed {SEED})": generated}
    beside = files["test"].parent.resolve().parent / "en"
    official = find_files(beside).get(task, {}) if beside.is_dir() else {}
    if "train" in official:
        name = "stories of the official 1k training file"
        sources[name] = read_stories(official["train"])
    chosen: list[Story] = []
    parts = []
    for name, stories in sources.items():
        kept = [story for story in stories if as_told(story) not in held_out]
        parts.append(_described(name, kept, len(stories) - len(kept)))
        chosen += kept
    return chosen, f"in place of the missing training file: {' and '.join(parts)}"


def as_told(story: Story) -> tuple[object, ...]:
    """A story as a model sees it: without its supporting facts."""
    asked = tuple((question.text, question.answer, question.after) for question in story.questions)
    return story.sentences, asked


def _described(name: str, kept: Sequence[Story], left_out: int) -> str:
    questions = sum(len(story.questions) for story in kept)
    text = f"{len(kept):,} {name} with {questions:,} questions"
    return f"{text} ({left_out} more are in valid or test)" if left_out else text
