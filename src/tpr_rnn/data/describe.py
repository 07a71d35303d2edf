"""What a directory of stories holds, in numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tpr_rnn.data.dataset import SPLITS, DataSet
from tpr_rnn.data.encoding import build_vocabulary, longest_sentence
from tpr_rnn.data.registry import find_data_set


@dataclass(frozen=True)
class TaskDescription:
    """The numbers of one task."""

    task: str
    questions: dict[str, int]
    """By split; a split without a file is not there."""
    vocabulary: int
    """Different words, the padding included."""
    words: int
    """In the longest sentence or question."""
    mean_sentences: float
    """Before a question."""
    most_sentences: int
    different_sentences: int
    different_questions: int


class Description(NamedTuple):
    """What a directory holds."""

    tasks: list[TaskDescription]
    missing_tasks: list[str]
    """Those that belong to its data set, and are not there."""


def describe(directory: Path) -> Description:
    """Read every file of a directory and describe its tasks."""
    data_set, files = find_data_set(directory)
    return Description(
        [_describe_task(data_set, task, by_split) for task, by_split in files.items()],
        [task for task in data_set.tasks if task not in files],
    )


def _describe_task(data_set: DataSet, task: str, files: Mapping[str, Path]) -> TaskDescription:
    stories_of = {split: data_set.read(files[split]) for split in SPLITS if split in files}
    stories = [story for stories in stories_of.values() for story in stories]
    told = [question.after for story in stories for question in story.questions]
    return TaskDescription(
        task=task,
        questions={
            split: sum(len(story.questions) for story in stories)
            for split, stories in stories_of.items()
        },
        vocabulary=len(build_vocabulary(stories)),
        words=longest_sentence(stories),
        mean_sentences=sum(told) / max(len(told), 1),
        most_sentences=max(told, default=0),
        different_sentences=len({text for story in stories for text in story.sentences}),
        different_questions=len({q.text for story in stories for q in story.questions}),
    )
