"""`tpr-rnn data`: stories to train on."""

import shlex
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from tpr_rnn.cli.options import JsonOption, command, print_json
from tpr_rnn.errors import UserError, quoted


def generate(
    *,
    out: Annotated[Path, Parameter(help="Directory for the files.")],
    task: Annotated[
        str,
        Parameter(help="A task's number, or such as wide-things; if absent, all of a kind."),
    ] = "all",
    kind: Annotated[
        Literal["official", "wide"],
        Parameter(help="Stories like the official ones, or without their habits (docs/wide.md)."),
    ] = "official",
    questions: Annotated[
        int, Parameter(help="Questions to train and validate on (90 / 10); 1,000 to test.")
    ] = 10_000,
    seed: Annotated[int, Parameter(help="The same seed gives the same files.")] = 0,
    names: Annotated[str | None, Parameter(help="Who acts, such as Ann,Bob,Kim/she.")] = None,
    objects: Annotated[str | None, Parameter(help="What they carry, such as book,hat.")] = None,
    places: Annotated[str | None, Parameter(help="Where they go, such as attic,shed.")] = None,
    story_length: Annotated[int | None, Parameter(help="Least sentences of a story.")] = None,
    distractors: Annotated[
        int | None, Parameter(help="Sentences of a story that lead nowhere (task 19).")
    ] = None,
) -> int:
    """Write stories from the simulator, in the layout of the official en-valid-10k.

    Without options the stories are like the official ones.
    """
    from tpr_rnn.data.babi.format import format_story
    from tpr_rnn.data.dataset import ALL, SPLITS
    from tpr_rnn.data.simulator import TASK_TITLES, StoryOptions, tell
    from tpr_rnn.data.simulator import generate as tell_stories
    from tpr_rnn.data.simulator.wide import WIDE_TASKS

    options = StoryOptions(
        names=_words(names),
        objects=_words(objects),
        places=_words(places),
        story_length=story_length,
        distractors=distractors,
    )
    known = WIDE_TASKS if kind == "wide" else TASK_TITLES
    if task not in (ALL, *known):
        raise UserError(
            f"there is no task {quoted(task)} of {kind} stories; there are {', '.join(known)}"
        )
    tasks = list(known) if task == ALL else [task]
    for each in tasks:
        tell(each, seed=seed, options=options)  # an impossible wish is refused before any file is
        for split in SPLITS:
            path = out / _file_name(kind, each, split)
            if path.exists():
                raise UserError(f"{path}: exists already; choose another --out, or remove it")
    for each in tasks:
        told = tell_stories(each, questions=questions, seed=seed, options=options)
        for split, stories in told.items():
            try:
                out.mkdir(parents=True, exist_ok=True)
                path = out / _file_name(kind, each, split)
                path.write_text("".join(map(format_story, stories)), encoding="utf-8", newline="\n")
            except OSError as error:
                raise UserError(f"{out}: cannot be written ({error.strerror})") from error
        print(f"{out}: {', '.join(_file_name(kind, each, split) for split in SPLITS)}")
    return 0


def _file_name(kind: str, task: str, split: str) -> str:
    """The file of a task: as bAbI has it, or by the name of the task, as your own files are."""
    from tpr_rnn.data.babi.directory import file_name

    return f"{task}_{split}.txt" if kind == "wide" else file_name(task, split)


_NOTES = {
    "train": "no train file",
    "valid": "no valid file, so the last tenth of train serves",
    "test": "no test file, so it can be trained, but not tested",
}


def _words(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(word.strip() for word in text.split(","))


def fetch(
    *, out: Annotated[Path, Parameter(help="Directory for the archive.")] = Path("data")
) -> int:
    """Download the official bAbI data, with a checksum."""
    from tpr_rnn.data.babi.download import fetch as fetch_archive

    directory = fetch_archive(out)
    where = shlex.quote(str(directory))
    print(f"The paper's data is in {directory}. Next:\n  {command()} train --task 1 --data {where}")
    return 0


def describe(
    directory: Annotated[Path, Parameter(help="Directory of stories.")],
    *,
    json: JsonOption = False,
) -> int:
    """Show what a directory holds: tasks, questions, vocabulary, lengths, what is missing."""
    from dataclasses import asdict

    from rich.table import Table

    from tpr_rnn.cli.console import Console
    from tpr_rnn.data.dataset import SPLITS
    from tpr_rnn.data.describe import describe as describe_directory

    tasks, absent = describe_directory(directory)
    missing_splits = {
        each.task: [split for split in SPLITS if split not in each.questions] for each in tasks
    }
    table = Table("task", title=str(directory))
    for heading in (*SPLITS, "vocab", "W", "told", "most", "S", "Q"):
        table.add_column(heading, justify="right")
    for each in tasks:
        table.add_row(
            each.task,
            *(str(each.questions.get(split, "-")) for split in SPLITS),
            str(each.vocabulary),
            str(each.words),
            f"{each.mean_sentences:.1f}",
            str(each.most_sentences),
            str(each.different_sentences),
            str(each.different_questions),
        )
    console = Console(to_stderr=json)
    console.print(table)
    console.print(
        "train, valid, test: questions; vocab: different words, with the padding; W: words of the "
        "longest sentence; told, most: sentences before a question, mean and most; S, Q: different "
        "sentences and questions.",
        soft_wrap=False,
    )
    for task, missing in missing_splits.items():
        notes = [_NOTES[split] for split in missing if split != "valid" or "train" not in missing]
        if notes:
            console.print(f"task {task}: {'; '.join(notes)}")
    if absent:
        console.print(f"missing tasks: {', '.join(absent)}")
    if json:
        print_json({"tasks": [asdict(each) for each in tasks], "missing_tasks": absent})
    return 0
