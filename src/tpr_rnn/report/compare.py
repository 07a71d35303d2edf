"""The systems that the paper compares with, under one protocol: its Tables 1 and 2, Figures 3, 5.

Every run is ours; what has been published of the same system stands beside it.
"""

from collections.abc import Sequence
from functools import partial

from tpr_rnn.report.figures import Curve, draw_comparison
from tpr_rnn.report.numbers import (
    CONVENTION,
    FAILED_ABOVE,
    TASKS,
    failed,
    mean_of_all,
    spread,
    two_places,
)
from tpr_rnn.report.published import (
    JOINT,
    PAPER_SINGLE,
    PUBLISHED_JOINT,
    PUBLISHED_SINGLE,
)
from tpr_rnn.report.records import Group, Record, group_records
from tpr_rnn.report.section import (
    Figure,
    Section,
    counted,
    data_note,
    missing_note,
    peers_table,
    substituted_note,
)
from tpr_rnn.report.single_task import SingleRuns
from tpr_rnn.report.swapped import swapped_tables
from tpr_rnn.report.systematic import names_parts
from tpr_rnn.report.table import Cell, Table
from tpr_rnn.times import duration

TITLES = {
    "compare": "The systems side by side",
    "word-level": "The word-level TPR-RNN: a model for each task, and one for all tasks",
}


def compare(name: str, records: Sequence[Record]) -> Section:
    """The section about an experiment whose runs are on one task, on all, or on new names."""
    single = group_records([record for record in records if record.run.task in TASKS])
    joint = group_records([record for record in records if record.run.task == "all"])
    names = group_records([record for record in records if record.run.task == "systematic"])
    seconds = sum(record.run.cpu_seconds for record in records)
    groups = [*single, *joint, *names]
    note = substituted_note(groups)
    parts: list[str | Table | Figure] = []
    missing: dict[str, dict[str, list[int]]] = {}
    if single:
        runs = [SingleRuns(group) for group in single]
        missing |= {f"{each.label}, a model for each task": each.missing() for each in runs}
        parts += [
            "## A model for each task (Table 2 of the paper)",
            *_single_parts(name, runs, note),
        ]
    if joint:
        parts += [
            "## One model for all tasks (Table 1 of the paper)",
            *_joint_parts(name, joint, note),
        ]
        parts += swapped_tables(name, joint, note)
    if names:
        parts += ["## New names (Figure 5 of the paper)", *names_parts(f"{name}-names", names)]
    parts += [
        _cost_table(name, groups),
        "## Stories",
        data_note(groups),
        "## Missing runs",
        missing_note(missing),
        "## How to read it",
        CONVENTION,
        "Best is by validation: the run with the least validation error, then the least "
        "validation loss, then the lowest seed. What others have published as best was chosen "
        "in ways of their own, out of up to ten runs a task. An answer of several words is one "
        "answer among all here; published programs of the DNC count word by word.",
    ]
    headline = f"{counted(len(records), 'run')} took {duration(seconds)} of one core"
    return Section(name, TITLES[name], [headline], parts)


def _single_parts(name: str, runs: Sequence[SingleRuns], note: str) -> list[str | Table | Figure]:
    published = [PUBLISHED_SINGLE.get(_kind(each.group)) for each in runs]
    headings = ["task"]
    for each, column in zip(runs, published, strict=True):
        headings += [f"{each.group.system} best", *(["published"] if column else [])]
    best: list[Sequence[Cell]] = []
    for task in TASKS:
        row: list[Cell] = [task]
        for each, column in zip(runs, published, strict=True):
            row += [each.best[task]]
            row += [f"{getattr(PAPER_SINGLE[task], column.of_task):g}"] if column else []
        best.append(row)
    means: list[Cell] = ["mean"]
    failures: list[Cell] = [f"failed (> {FAILED_ABOVE:g} %)"]
    seeds: list[Cell] = ["runs a task"]
    for each, column in zip(runs, published, strict=True):
        means += [each.mean_of_best, *([f"{column.mean:g}"] if column else [])]
        failures += [failed(list(each.best.values())), *([f"{column.failed:g}"] if column else [])]
        seeds += [str(len(each.seeds)), *([column.runs] if column else [])]
    spreads: list[Sequence[Cell]] = [
        [task, *(spread(each.errors[task]) for each in runs)] for task in TASKS
    ]
    spreads.append(["mean", *(each.mean for each in runs)])
    spreads.append([f"failed (> {FAILED_ABOVE:g} %)", *(each.failed for each in runs)])
    return [
        Table(
            f"{name}-single",
            "Test error in %, a model for each task, the best run of each task by validation",
            tuple(headings),
            [*best, means, failures, seeds],
            summary_rows=3,
            note=note,
            in_paper=True,
        ),
        Table(
            f"{name}-single-mean",
            "Test error in %, a model for each task, mean over runs",
            ("task", *(each.group.system for each in runs)),
            spreads,
            summary_rows=2,
            note=note,
        ),
        _against_published(
            f"{name}-single-published",
            [
                (each.group, each.mean_of_best, None if column is None else column.mean)
                for each, column in zip(runs, published, strict=True)
            ],
        ),
    ]


def _joint_parts(name: str, groups: Sequence[Group], note: str) -> list[str | Table | Figure]:
    rows: list[Sequence[Cell]] = []
    ours: list[Sequence[Cell]] = []
    for group in groups:
        means = [mean_of_all(_errors(record)) for record in group.records]
        failures = [failed(_errors(record)) for record in group.records]
        best = min(group.records, key=lambda record: record.run.rank)
        numbers: list[Cell] = [spread(means), mean_of_all(_errors(best)), spread(failures)]
        published = PUBLISHED_JOINT.get(_kind(group)) or ("", "")
        rows.append([group.system, str(len(group.records)), *numbers, *published])
        ours.append([group.system, *numbers, "this report"])
    by_task: list[Sequence[Cell]] = [
        [task, *(spread(record.errors.get(task) for record in group.records) for group in groups)]
        for task in TASKS
    ]
    curves = [
        Curve(
            group.system,
            record.run.seed,
            record.run.curve,
            record.settings["batch_size"],
        )
        for group in groups
        for record in group.records
        if record.run.curve
    ]
    parts: list[str | Table | Figure] = [
        Table(
            f"{name}-all",
            "Test error in %, one model for all tasks: mean over tasks",
            ("system", "runs", "mean", "best", "failed tasks", "published", "published best"),
            rows,
            note=note,
            in_paper=True,
        ),
        Table(
            f"{name}-all-tasks",
            "Test error in % by task, one model for all tasks: mean over runs",
            ("task", *(group.system for group in groups)),
            by_task,
            note=note,
        ),
    ]
    caption = "One model for all tasks: ours, and what is published, mean over tasks in %"
    parts.append(peers_table(f"{name}-peers", caption, ours, JOINT, note))
    if curves:
        caption = (
            "Validation error of one model for all tasks against the questions that it was "
            "trained on and against minutes of one core (Figure 3 of the paper): each seed (thin) "
            "and their mean (thick)."
        )
        parts.append(Figure(f"{name}-curves", caption, partial(draw_comparison, curves=curves)))
    return parts


def _against_published(
    name: str, rows: Sequence[tuple[Group, float | None, float | None]]
) -> Table:
    cells: list[Sequence[Cell]] = [
        [
            group.system,
            ours,
            f"{published:g}",
            ""
            if ours is None
            else f"{'+' if ours > published else ''}{two_places(ours - published)}",
        ]
        for group, ours, published in rows
        if published is not None
    ]
    caption = "Mean of the best errors in %, ours against what is published"
    return Table(name, caption, ("system", "ours", "published", "difference"), cells)


def _cost_table(name: str, groups: Sequence[Group]) -> Table:
    rows: list[Sequence[Cell]] = []
    for group in groups:
        runs = [record.run for record in group.records]
        questions = [
            run.steps * record.settings["batch_size"]
            for run, record in zip(runs, group.records, strict=True)
        ]
        rows.append(
            [
                group.system,
                _setting(runs[0].task),
                str(len(runs)),
                _range([run.parameters for run in runs]),
                _range(questions),
                duration(sum(run.cpu_seconds for run in runs) / len(runs)),
            ]
        )
    caption = (
        "What the runs took: parameters, questions trained on, and time of one core a run (mean)"
    )
    headings = ("system", "setting", "runs", "parameters", "questions", "time a run")
    return Table(f"{name}-cost", caption, headings, rows)


def _setting(task: str) -> str:
    return {"all": "all tasks", "systematic": "new names"}.get(task, "a task each")


def _range(numbers: Sequence[int]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _kind(group: Group) -> str:
    return group.first.run.architecture


def _errors(record: Record) -> list[float | None]:
    return [record.errors.get(task) for task in TASKS]
