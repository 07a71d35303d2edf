"""Table 1 and appendix B of the paper, side by side with ours: one model for all tasks."""

from collections.abc import Sequence
from functools import partial

from tpr_rnn.report.figures import ERRORS_CAPTION, Curve, draw_curves, draw_errors
from tpr_rnn.report.numbers import (
    CONVENTION,
    FAILED_ABOVE,
    TASKS,
    Number,
    Spread,
    mean_of_all,
    spread,
)
from tpr_rnn.report.published import (
    JOINT,
    PAPER_ALL,
    PAPER_ALL_FAILED,
    PAPER_ALL_MEAN,
    PAPER_ALL_SEEDS,
    PAPER_HOURS,
    PaperErrors,
)
from tpr_rnn.report.records import Group, Record, group_records
from tpr_rnn.report.runs import Runs
from tpr_rnn.report.section import (
    Figure,
    Section,
    data_note,
    missing_note,
    peers_table,
    settings_table,
    substituted_note,
)
from tpr_rnn.report.swapped import swapped_tables
from tpr_rnn.report.table import Cell, Table
from tpr_rnn.times import duration

TITLES = {
    "all-tasks": "All-tasks: one model for all tasks",
    "random-names": "Random names: one model for all tasks, trained with names that nobody knows",
}


class _Runs(Runs):
    """The numbers of one group, with the run that is best by validation."""

    def __init__(self, group: Group) -> None:
        self.best = min(group.records, key=lambda record: record.run.rank)
        errors = {task: [record.errors.get(task) for record in group.records] for task in TASKS}
        super().__init__(group, errors, mean_of_all([self.best.errors.get(task) for task in TASKS]))


def all_tasks(name: str, records: Sequence[Record]) -> Section:
    """The section about an experiment whose runs are on all tasks."""
    groups = group_records(records)
    runs = [_Runs(group) for group in groups]
    curves = [
        Curve(each.label, record.run.seed, record.run.curve, record.settings["batch_size"])
        for each in runs
        for record in each.group.records
        if record.run.curve
    ]
    note = substituted_note(groups)
    parts: list[str | Table | Figure] = [
        peers_table(
            f"{name}-peers",
            "One model for all tasks: mean over tasks of the error in % (Table 1 of the paper, and "
            "others). Best is the best run (ours: by validation).",
            [each.row_of_peers() for each in runs],
            JOINT,
            note,
            in_paper=True,
        )
    ]
    for number, each in enumerate(runs):
        detail = name if number == 0 else f"{name}-{number + 1}"
        parts.append(_detail_table(detail, each, note))
    parts.append(_run_table(f"{name}-runs", runs, note))
    parts += swapped_tables(name, groups, note)
    if curves:
        parts.append(
            Figure(
                f"{name}-curves",
                "Validation error (mean over tasks) against steps and against minutes: each seed "
                "(thin; a leap upwards is a new attempt) and their mean (thick). Marked: the "
                f"paper's models were under {FAILED_ABOVE:g} % after about {PAPER_HOURS} hours on "
                "a GPU.",
                partial(draw_curves, curves=curves),
            )
        )
    parts += [
        Figure(
            f"{name}-errors",
            ERRORS_CAPTION,
            partial(
                draw_errors,
                series={each.label: each.errors for each in runs},
                paper={task: row.mean for task, row in PAPER_ALL.items()},
            ),
        ),
        settings_table(f"{name}-settings", groups, "paper-all"),
        "## Stories",
        data_note(groups),
        "## Missing runs and tasks",
        missing_note({each.label: each.missing() for each in runs}),
        "## How to read it",
        CONVENTION,
        "Best: the run with the least validation error (mean over tasks), then the least "
        "validation loss, then the lowest seed. In appendix B of the paper, `best` is the least "
        "test error of any of its eight runs, for each task. Its Table 1 speaks of ten runs; the "
        "eight of the appendix have 0.88 ± 0.99 failed tasks, not 0.86 ± 1.11.",
    ]
    return Section(name, TITLES[name], [_headline(each) for each in runs], parts)


def _headline(runs: _Runs) -> str:
    longest = max(record.run.cpu_seconds for record in runs.group.records)
    cost = f"a run took {duration(longest)} of one core at most"
    return runs.headline("no run has all tasks", cost)


def _detail_table(name: str, runs: _Runs, note: str) -> Table:
    seeds = [f"seed {seed}" for seed in runs.seeds]
    headings = ("task", *seeds, "best", "mean", "paper", "paper best")
    best = runs.group.records.index(runs.best)

    def row(name: str, numbers: Sequence[Number | None], paper: PaperErrors) -> Sequence[Cell]:
        papers = Spread(paper.mean, paper.deviation, PAPER_ALL_SEEDS, PAPER_ALL_SEEDS)
        return [name, *numbers, numbers[best], spread(numbers), papers, paper.best]

    rows = [row(task, runs.errors[task], PAPER_ALL[task]) for task in TASKS]
    rows.append(row("mean", runs.means, PAPER_ALL_MEAN))
    rows.append(row(f"failed (> {FAILED_ABOVE:g} %)", runs.failures, PAPER_ALL_FAILED))
    caption = (
        f"Test error in % of each run, `{runs.label}` (appendix B of the paper); the best by "
        f"validation is seed {runs.best.run.seed}"
    )
    return Table(name, caption, headings, rows, summary_rows=2, note=note, in_paper=True)


def _run_table(name: str, runs: Sequence[_Runs], note: str) -> Table:
    """What each run cost, and when it was as good as the paper's after 48 hours."""
    rows: list[Sequence[Cell]] = []
    for each in runs:
        for record, mean in zip(each.group.records, each.means, strict=True):
            good = [point for point in record.run.curve if point.valid_error < FAILED_ABOVE]
            rows.append(
                [
                    each.label,
                    str(record.run.seed),
                    record.run.valid.error,
                    mean,
                    f"{record.run.steps:,}",
                    duration(record.run.cpu_seconds),
                    f"{good[0].step:,}" if good else "",
                    duration(good[0].cpu_seconds) if good else "",
                ]
            )
    until = f"to {FAILED_ABOVE:g} %"
    cost = ("steps", "time", f"steps {until}", f"time {until}")
    headings = ("preset", "seed", "valid error", "test error", *cost)
    caption = (
        "Each run: what it cost, and when its validation error (mean over tasks) first was under "
        f"{FAILED_ABOVE:g} %"
    )
    return Table(name, caption, headings, rows, note=note)
