"""Trained on generated stories, tested on the official ones (benchmarks/train_on_generated.py)."""

from collections.abc import Sequence

from tpr_rnn.report.numbers import TASKS
from tpr_rnn.report.records import Record
from tpr_rnn.report.section import Section, counted
from tpr_rnn.report.table import Cell, Table

OFFICIAL, GENERATED = "official", "generated"


def train_on_generated(records: Sequence[Record]) -> Section:
    """The section about the two sources of training stories."""
    errors = {(each.run.variant, each.run.task): each.test.error for each in records}
    rows: list[Sequence[Cell]] = []
    differences = {}
    for task in TASKS:
        official, generated = errors.get((OFFICIAL, task)), errors.get((GENERATED, task))
        difference: Cell = ""
        if official is not None and generated is not None:
            difference = differences[task] = generated - official
        rows.append([task, official, generated, difference])
    headings = ("task", "trained on official", "trained on generated", "difference")
    caption = "Error in % on the official test files, by where the training stories come from"
    worst = max(differences, key=lambda task: differences[task], default=None)
    headline = counted(len(records), "run")
    if worst is not None:
        headline += (
            f": generated stories cost {differences[worst]:.1f} points at most (task {worst})"
        )
    return Section(
        "train-on-generated",
        "Trained on generated stories, tested on the official ones",
        [headline],
        [
            Table("train-on-generated", caption, headings, rows),
            "`python -m benchmarks.train_on_generated --data DIR`: one run for each task and "
            "source. Validation too is on stories of the same source; a task without an official "
            "training file is missing on that side.",
        ],
    )
