"""What a directory of bAbI files holds, in numbers."""

from dataclasses import dataclass
from pathlib import Path

from tpr_rnn.data.babi.directory import SPLITS, find_files
from tpr_rnn.data.babi.format import read_stories
from tpr_rnn.data.encoding import build_vocabulary, longest_sentence


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


def describe(directory: Path) -> list[TaskDescription]:
    """Read every file of a directory and describe its tasks."""
    return [_describe_task(task, files) for task, files in find_files(directory).items()]


def _describe_task(task: str, files: dict[str, Path]) -> TaskDescription:
    stories_of = {split: read_stories(files[split]) for split in SPLITS if split in files}
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
