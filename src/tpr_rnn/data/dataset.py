"""What the program must know of a data set: its files, tasks, caps, probes and mixtures.

A data set is one `DataSet` in a file of its own, and a line in `registry.py`. `own.py` is the
simplest one, `babi/dataset.py` the one with the most to say.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from tpr_rnn.data.story import Story

SPLITS = ("train", "valid", "test")

GENERATED = "generated"
"""The name of stories without files."""

ALL = "all"
"""What the task of a run is called where one model learns all tasks."""

Files = Mapping[str, Mapping[str, Path]]
"""Files by task and split."""
Splits = dict[str, list[Story]]
"""The stories of a task by split."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is known of a task."""

    title: str = ""
    max_sentences: int | None = None
    """Before a question so many sentences are read, the last ones; None: all of them."""
    seconds: int | None = None
    """What training a model of it took on one core: only the proportions of tasks count."""


@dataclass(frozen=True, kw_only=True)
class Probe:
    """A second look at some tasks: the same questions, but with something changed."""

    tasks: Collection[str]
    """The tasks that it is about; it needs all of them."""
    change: Callable[[str, Story], Story]
    """The story of a task as it is asked about in the probe."""

    def missing(self, tasks: Collection[str]) -> list[str]:
        """The tasks that it needs, and that are not among these."""
        return [task for task in self.tasks if task not in tasks]

    def changed(self, stories_of: Mapping[str, Sequence[Story]]) -> dict[str, list[Story]]:
        """The stories of those tasks that it is about, changed."""
        return {
            task: [self.change(task, story) for story in stories]
            for task, stories in stories_of.items()
            if task in self.tasks
        }


@dataclass(frozen=True, kw_only=True)
class Interchangeable:
    """Words that mean nothing but themselves, such as names.

    A story in which those of a kind change places is another story, with answers changed likewise.
    """

    kinds: Mapping[str, tuple[str, ...]]
    """By the name of the kind."""
    kept: Mapping[str, Collection[str]] = field(default_factory=dict)
    """By task, the kinds that mean more in its stories, and stay."""


class Combination(NamedTuple):
    """A new name in a task (`babi/systematic.py`)."""

    name: str
    task: str
    trained: bool
    """Whether the training stories of the task have the name."""


@dataclass(frozen=True, kw_only=True)
class Substitutes:
    """Training stories in the place of a training file that is missing."""

    serve: Callable[[str, Mapping[str, Path]], bool]
    """Whether there are any for a task with these files."""
    make: Callable[[str, Mapping[str, Path]], tuple[list[Story], str]]
    """The stories, and a sentence on where they come from."""


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """A data set, as files in a directory."""

    name: str
    example: str
    """The name of a training file, for messages; none if there are no files at all."""
    find: Callable[[Path], Files]
    """The files in a directory; none where it holds another data set."""
    read: Callable[[Path], list[Story]]
    """The stories in a file; what is wrong in it is a `UserError` with file and line."""
    tasks: Mapping[str, Task] = field(default_factory=dict)
    """The tasks that belong to it, in their order; a directory may have fewer, or others too."""
    other_tasks: Task = field(default_factory=Task)
    """What holds for those others."""
    probes: Mapping[str, Probe] = field(default_factory=dict)
    """Its probes by name, such as one in which known names take the place of others."""
    interchangeable: Interchangeable = field(default_factory=lambda: Interchangeable(kinds={}))
    mixtures: Mapping[str, "Mixture"] = field(default_factory=dict)
    """By the name that a run has as its task."""
    substitutes: Substitutes | None = None
    generate: Callable[[str], Splits] | None = None
    """Stories of a task without any file."""

    def max_sentences(self, tasks: Iterable[str], setting: int | None = None) -> dict[str, int]:
        """The caps of some tasks: how many sentences before a question are read, the last ones.

        This is the one place that knows them, for training, evaluation and `ask` alike.

        Args:
            tasks: the tasks; one that is read whole is not in the answer.
            setting: `max_sentences` of the recipe, which holds for every task; None: its own.
        """
        caps = {
            task: setting or self.tasks.get(task, self.other_tasks).max_sentences for task in tasks
        }
        return {task: cap for task, cap in caps.items() if cap is not None}

    def in_order(self, found: Iterable[str]) -> list[str]:
        """All its tasks, and then the others that were found."""
        return list(dict.fromkeys((*self.tasks, *found)))


@dataclass(frozen=True)
class Corpus:
    """Stories by task and split, with the knowledge of where they came from."""

    name: str
    """The directory's name, or 'generated'."""
    data_set: DataSet
    stories: dict[str, Splits]
    sha256: str
    """A checksum of the text of all tasks."""
    missing_files: dict[str, str]
    """Tasks that were wanted and cannot be had whole, and what they lack."""
    substituted: dict[str, str] = field(default_factory=dict)
    """Tasks whose training file is missing, and what they are trained on in its place."""

    combinations: dict[Combination, list[Story]] = field(default_factory=dict)
    """More test stories, of new names, where the experiment has such."""

    def all_stories(self) -> Iterable[Story]:
        """Every story of every task and split."""
        for splits in self.stories.values():
            for stories in splits.values():
                yield from stories
        for stories in self.combinations.values():
            yield from stories

    def questions(self, split: str) -> int:
        """How many questions a split has."""
        return sum(len(story.questions) for told in self.split(split).values() for story in told)

    def split(self, name: str) -> dict[str, list[Story]]:
        """One split of every task that has it."""
        return {task: splits[name] for task, splits in self.stories.items() if name in splits}

    def with_first(self, split: str, stories: int | None) -> "Corpus":
        """The same with so many stories of each task in a split; None: with all."""
        if stories is None:
            return self
        shorter = {
            task: splits | {split: splits[split][:stories]} if split in splits else splits
            for task, splits in self.stories.items()
        }
        return replace(self, stories=shorter)

    def max_sentences(self, setting: int | None) -> dict[str, int]:
        """The caps of its tasks, with the recipe's `max_sentences` (`DataSet.max_sentences`)."""
        return self.data_set.max_sentences(self.stories, setting)


@dataclass(frozen=True)
class Source:
    """Where a mixture takes the stories of its tasks from."""

    data_set: DataSet
    place: str
    """The directory, or 'generated', for messages."""
    load: Callable[[str, Collection[str]], Corpus]
    """The stories of a task, or of all, in some splits."""


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """Several tasks in one run under a name of their own, such as an experiment with new names."""

    tasks: tuple[str, ...]
    """The tasks whose stories it takes: names, or `ALL`; none if all its stories are generated."""
    mix: Callable[[Source, Collection[str]], Corpus]
    """Makes its stories in some splits."""
    preset: str
    """The preset of ours that fits it."""
    experiment: str
    """The experiment that its runs belong to."""
    substitutes: bool
    """Whether it may take other training stories where a training file is missing."""
    scored: str | None = None
    """The task, or `ALL`, whose stories a model of it is scored on, where others of its stories are
    for training alone; None: all of them."""
