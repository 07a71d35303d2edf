"""Table 1 and appendix B of the paper, side by side with ours: one model for all tasks."""

from collections.abc import Sequence
from functools import partial

from tpr_rnn.data.swapped_names import SWAPS
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
    SWAPPED,
    SWAPPED_SOURCE,
    PaperErrors,
)
from tpr_rnn.report.records import Group, Record, group_records
from tpr_rnn.report.runs import Runs
from tpr_rnn.report.section import (
    Figure,
    Section,
    data_note,
    filled_note,
    missing_note,
    peers_table,
    settings_table,
)
from tpr_rnn.report.table import Cell, Table
from tpr_rnn.times import duration
from tpr_rnn.training.compare import setting_value


def belongs(record: Record) -> bool:
    """Whether a record is of a model for all tasks with the whole memory."""
    return record.task == "all" and record.whole


class _Runs(Runs):
    """The numbers of one group, with the run that is best by validation."""

    def __init__(self, group: Group) -> None:
        self.best = min(group.records, key=lambda record: record.rank)
        errors = {task: [record.errors.get(task) for record in group.records] for task in TASKS}
        super().__init__(group, errors, mean_of_all([self.best.errors.get(task) for task in TASKS]))


def all_tasks(records: Sequence[Record]) -> Section:
    """The section about runs on all tasks."""
    groups = group_records(records)
    runs = [_Runs(group) for group in groups]
    curves = [
        Curve(each.label, record.seed, points)
        for each in runs
        for record in each.group.records
        if (points := record.curve())
    ]
    note = filled_note(groups)
    parts: list[str | Table | Figure] = [
        peers_table(
            "all-tasks-peers",
            "One model for all tasks: mean over tasks of the error in % (Table 1 of the paper, and "
            "others). Best is the best run (ours: by validation).",
            [each.row_of_peers() for each in runs],
            JOINT,
            note,
        )
    ]
    for number, each in enumerate(runs):
        name = "all-tasks" if number == 0 else f"all-tasks-{number + 1}"
        parts.append(_detail_table(name, each, note))
    parts.append(_run_table(runs, note))
    parts += _changes_tables(runs)
    if any(record.swapped_names for record in records):
        parts += [_swapped_table(runs, note), _swapped_task_table(runs, note)]
    if curves:
        parts.append(
            Figure(
                "all-tasks-curves",
                "Validation error (mean over tasks) against steps and against minutes: each seed "
                "(thin; a leap upwards is a new attempt) and their mean (thick). Marked: the "
                f"paper's models were under {FAILED_ABOVE:g} % after about {PAPER_HOURS} hours on "
                "a GPU.",
                partial(draw_curves, curves=curves),
            )
        )
    parts += [
        Figure(
            "all-tasks-errors",
            ERRORS_CAPTION,
            partial(
                draw_errors,
                series={each.label: each.errors for each in runs},
                paper={task: row.mean for task, row in PAPER_ALL.items()},
            ),
        ),
        settings_table("all-tasks-settings", groups, "paper-all"),
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
    return Section(
        "all-tasks", "All-tasks: one model for all tasks", [_headline(each) for each in runs], parts
    )


def _headline(runs: _Runs) -> str:
    longest = max(record.cpu_seconds for record in runs.group.records)
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
        f"validation is seed {runs.best.seed}"
    )
    return Table(name, caption, headings, rows, summary_rows=2, note=note)


def _changes_tables(runs: Sequence[_Runs]) -> list[Table]:
    """What a change of one setting brings, if there are runs that differ in one alone.

    On validation questions, for that is where settings are chosen.
    """
    neighbours = {
        base: [other for other in runs if len(_different(base, other)) == 1] for base in runs
    }
    # Of two that have as many, the one that is nearer to its preset.
    base, others = max(
        neighbours.items(), key=lambda pair: (len(pair[1]), -len(pair[0].group.first.changed()))
    )
    if not others:
        return []
    of_base = {record.seed: record.valid_error for record in base.group.records}
    rows: list[Sequence[Cell]] = [
        [f"`{base.label}`", "", "", spread(of_base[seed] for seed in base.seeds), ""]
    ]
    for other in others:
        (name,) = _different(base, other)
        errors = {record.seed: record.valid_error for record in other.group.records}
        rows.append(
            [
                name,
                *(setting_value(each.group.first.settings[name]) for each in (base, other)),
                spread(errors.values()),
                spread(errors[seed] - of_base[seed] for seed in errors if seed in of_base),
            ]
        )
    caption = (
        "What each change brings: validation error in % (mean over tasks) with all of them, and "
        "with one taken back; the gain is the mean over seeds of what is lost by that"
    )
    headings = ("setting", "with all", "taken back", "valid error", "gain")
    return [Table("all-tasks-changes", caption, headings, rows)]


def _different(one: _Runs, other: _Runs) -> list[str]:
    """The settings in which two groups differ."""
    here, there = one.group.first, other.group.first
    names = dict.fromkeys([*here.settings, *there.settings])
    return [name for name in names if here.settings.get(name) != there.settings.get(name)]


def _swapped_table(runs: Sequence[_Runs], note: str) -> Table:
    """The swapped-names test, beside what others have published."""
    rows: list[Sequence[Cell]] = []
    for each in runs:
        tests = [record.swapped_names for record in each.group.records]
        plain = spread(None if test is None else test.plain_error for test in tests)
        swapped = spread(None if test is None else test.swapped_error for test in tests)
        rows.append([each.group.system, plain, swapped, "this report"])
    rows += [[system, "", f"{error:g}", SWAPPED_SOURCE] for system, error in SWAPPED.items()]
    caption = (
        "The swapped-names test: error in % of all questions of tasks 1-3 and 6-14, with the names "
        "as they are and with names that the task lacks in training"
    )
    headings = ("system", "names as they are", "names swapped", "source")
    return Table("all-tasks-swapped", caption, headings, rows, note=note)


def _swapped_task_table(runs: Sequence[_Runs], note: str) -> Table:
    """The same by task."""
    rows: list[Sequence[Cell]] = []
    for task in SWAPS:
        cells: list[Cell] = []
        for each in runs:
            tests = [record.swapped_names for record in each.group.records]
            for side in (0, 1):
                cells.append(
                    spread(None if test is None else test.per_task[task][side] for test in tests)
                )
        rows.append([task, *cells])
    headings = ["task"]
    for each in runs:
        headings += [each.label, f"{each.label}, swapped"]
    caption = "The swapped-names test by task: error in %"
    return Table("all-tasks-swapped-tasks", caption, tuple(headings), rows, note=note)


def _run_table(runs: Sequence[_Runs], note: str) -> Table:
    """What each run cost, and when it was as good as the paper's after 48 hours."""
    rows: list[Sequence[Cell]] = []
    for each in runs:
        for record, mean in zip(each.group.records, each.means, strict=True):
            good = [point for point in record.curve() if point.valid_error < FAILED_ABOVE]
            rows.append(
                [
                    each.label,
                    str(record.seed),
                    record.valid_error,
                    mean,
                    f"{record.steps:,}",
                    duration(record.cpu_seconds),
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
    return Table("all-tasks-runs", caption, headings, rows, note=note)
