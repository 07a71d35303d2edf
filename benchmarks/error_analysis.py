"""Where models of all tasks err: their wrong answers by task and kind of question.

    python -m benchmarks.error_analysis RUN... --data DIR [--split test] [--out FILE.md]

A kind is the answer, the form of the question, the number of facts that support the answer, or the
number of sentences before it. Listed are the kinds that are wrong twice as often as the average
question of their task.
"""

import argparse
import sys
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from tpr_rnn.data.batches import make_batch
from tpr_rnn.data.dataset import Corpus
from tpr_rnn.data.encoding import encode
from tpr_rnn.data.simulator import TASK_TITLES
from tpr_rnn.data.story import Story
from tpr_rnn.data.vocabulary import tokenize
from tpr_rnn.errors import UserError
from tpr_rnn.models.reader import Reader
from tpr_rnn.training.run_config import RunConfig, corpus_for

COMMON = 0.2
"""A word of a question is shown if so many of the task's questions have it, else it is '_'."""
LEAST_WRONG = 2
"""Kinds with fewer wrong answers a model are not listed: they may be chance."""


class Asked(NamedTuple):
    """A question with its kinds, and how often it was answered wrongly, by all runs together."""

    task: str
    kinds: tuple[str, ...]
    wrong: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--data", required=True, type=Path, metavar="DIR")
    parser.add_argument("--split", choices=("valid", "test"), default="valid")
    parser.add_argument("--out", type=Path, metavar="FILE.md")
    arguments = parser.parse_args()
    try:
        asked = collect(arguments.runs, arguments.data, arguments.split)
        page = write_page(asked, arguments.split, len(arguments.runs))
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    if arguments.out:
        arguments.out.write_text(page, encoding="utf-8")
    print(page, end="")
    return 0


def collect(runs: Sequence[Path], data: Path, split: str) -> list[Asked]:
    """All questions of a split with the wrong answers of all runs."""
    corpus = corpus_for(runs[0], data, [split])[0]
    stories = corpus.split(split)
    wrong = sum(mistakes(run, corpus, split) for run in runs)
    kinds = [kind for task, each in stories.items() for kind in kinds_of(task, each)]
    return [
        Asked(task, kind, count) for (task, kind), count in zip(kinds, wrong.tolist(), strict=True)
    ]


def mistakes(run: Path, corpus: Corpus, split: str) -> np.ndarray:
    """Whether a run answers each question wrongly, in the order of the stories."""
    reader, recipe = Reader.load(run), RunConfig.of(run).settings.recipe
    model = reader.model.eval()
    caps = corpus.max_sentences(recipe.max_sentences)
    data = encode(corpus.split(split), reader.vocabulary, model.config.max_words, caps)
    wrong = []
    with torch.no_grad():
        for chosen in np.array_split(np.arange(len(data)), len(data) // 500 + 1):
            batch = make_batch(data, chosen)
            wrong.append((model(batch).argmax(dim=1) != batch.answer).numpy())
    return np.concatenate(wrong).astype(np.int64)


def kinds_of(task: str, stories: list[Story]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each question's kinds."""
    questions = [question for story in stories for question in story.questions]
    having = Counter(word for question in questions for word in set(tokenize(question.text)))
    thirds = np.quantile([question.after for question in questions], (1 / 3, 2 / 3))
    for question in questions:
        words = [
            word if having[word] >= COMMON * len(questions) else "_"
            for word in tokenize(question.text)
        ]
        merged = [word for word, _ in groupby(words)]
        length = ("few", "some", "many")[int(np.searchsorted(thirds, question.after))]
        yield (
            task,
            (
                f"the answer is {question.answer}",
                f"asked: {' '.join(merged)}",
                f"{len(question.supports)} supporting facts",
                f"{length} sentences before it",
            ),
        )


def write_page(asked: list[Asked], split: str, runs: int) -> str:
    """The tables."""
    lines = [
        "# Where the errors are",
        "",
        textwrap.fill(
            f"Wrong answers of {runs} models of all tasks on the official {split} files, by task; "
            "and the kinds of question that stand out in it: those at least twice as often "
            f"answered wrongly, {LEAST_WRONG} times a model or more. A word of a question that few "
            "questions have is '_'. Made by `python -m benchmarks.error_analysis RUN... --data DIR "
            f"--split {split}`.",
            120,
            break_on_hyphens=False,
        ),
        "",
        "| task | error % | share of all errors % | stands out | of questions % | of errors % |",
        "|---|---|---|---|---|---|",
    ]
    of_task: dict[str, list[Asked]] = defaultdict(list)
    for each in asked:
        of_task[each.task].append(each)
    all_wrong = sum(each.wrong for each in asked)
    by_wrong = sorted(of_task.items(), key=lambda item: -sum(each.wrong for each in item[1]))
    for task, questions in by_wrong:
        wrong = sum(each.wrong for each in questions)
        if not wrong:
            continue
        error = 100 * wrong / len(questions) / runs
        start = f"| {task} {TASK_TITLES[task]} | {error:.2f} | {100 * wrong / all_wrong:.0f} |"
        notable = list(stand_out(questions, wrong, runs)) or [("", "", "")]
        for number, (kind, share, mistaken) in enumerate(notable):
            lines.append(f"{start if not number else '| | | |'} {kind} | {share} | {mistaken} |")
    return "\n".join(lines) + "\n"


def stand_out(questions: list[Asked], wrong: int, runs: int) -> Iterator[tuple[str, str, str]]:
    """Kinds that are twice as often wrong as the average question, most mistakes first."""
    count, missed = Counter[str](), Counter[str]()
    for each in questions:
        for kind in each.kinds:
            count[kind] += 1
            missed[kind] += each.wrong
    for kind, times in missed.most_common():
        share, mistaken = count[kind] / len(questions), times / wrong
        if times >= LEAST_WRONG * runs and mistaken >= 2 * share:
            yield kind, f"{100 * share:.0f}", f"{100 * mistaken:.0f}"


if __name__ == "__main__":
    sys.exit(main())
