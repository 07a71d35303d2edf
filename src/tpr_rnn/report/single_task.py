"""Table 2 of the paper, side by side with ours: a model for each task."""

from collections.abc import Sequence
from functools import partial

from tpr_rnn.report.figures import ERRORS_CAPTION, draw_errors
from tpr_rnn.report.numbers import (
    CONVENTION,
    FAILED_ABOVE,
    TASKS,
    Spread,
    failed,
    mean_of_all,
    spread,
    two_places,
)
from tpr_rnn.report.published import (
    PAPER_SINGLE,
    PAPER_SINGLE_FAILED,
    PAPER_SINGLE_MEAN,
    PAPER_SINGLE_SEEDS,
    SINGLE,
    PaperRow,
)
from tpr_rnn.report.records import Group, Record, group_records
from tpr_rnn.report.runs import Runs
from tpr_rnn.report.section import (
    Figure,
    Section,
    counted,
    data_note,
    missing_note,
    peers_table,
    settings_table,
    substituted_note,
)
from tpr_rnn.report.table import Cell, Table
from tpr_rnn.times import duration


class SingleRuns(Runs):
    """The numbers of one group, with the error of the run that is best by validation, by task."""

    def __init__(self, group: Group) -> None:
        errors: dict[str, list[float | None]] = {}
        self.best: dict[str, float | None] = {}
        unlucky: list[float | None] = []
        least: list[float | None] = []
        for task in TASKS:
            runs = [group.find(task, seed) for seed in group.seeds]
            errors[task] = [None if run is None else run.errors[task] for run in runs]
            there = sorted((each for each in runs if each is not None), key=lambda r: r.run.rank)
            tied = [each for each in there if each.run.valid.error == there[0].run.valid.error]
            self.best[task] = there[0].errors[task] if there else None
            unlucky.append(max((each.errors[task] for each in tied), default=None))
            least.append(min((each.errors[task] for each in there), default=None))
        super().__init__(group, errors, mean_of_all(list(self.best.values())))
        most, fewest = mean_of_all(unlucky), mean_of_all(least)
        if most is not None and fewest is not None:
            self.doubt = (
                " (validation loss breaks ties of validation error; "
                f"{two_places(most)} % if every tie went against us, "
                f"{two_places(fewest)} % if the test chose)"
            )


def single_task(records: Sequence[Record]) -> Section:
    """The section about single-task runs."""
    groups = group_records(records)
    runs = [SingleRuns(group) for group in groups]
    note = substituted_note(groups)
    return Section(
        "single-task",
        "Single-task: a model for each task",
        [_headline(each) for each in runs],
        [
            _main_table(runs, note),
            Figure(
                "single-task-errors",
                ERRORS_CAPTION,
                partial(
                    draw_errors,
                    series={each.label: each.errors for each in runs},
                    paper={task: row.mean for task, row in PAPER_SINGLE.items()},
                ),
            ),
            _seed_table(runs, note),
            peers_table(
                "single-task-peers",
                "Other systems, a model for each task: mean over tasks of the error in %. "
                "Best is the mean of the best run of each task (ours: by validation).",
                [each.row_of_peers() for each in runs],
                SINGLE,
                note,
            ),
            settings_table("single-task-settings", groups, "paper-single"),
            "## Stories",
            data_note(groups),
            "## Missing runs",
            missing_note({each.label: each.missing() for each in runs}),
            "## How to read it",
            CONVENTION,
            "NaN in: tasks whose loss became NaN after the warm-up, which ends the training; the "
            "best model so far is scored.",
            "Best by validation: the run with the least validation error, then the least "
            "validation loss, then the lowest seed. The paper does not say how its best runs "
            "were chosen, and the LSTM's errors in its table have the mean 33.4, not 36.4. Where "
            "runs are missing, the cell says how many are there, and a mean over tasks is taken "
            "only of seeds that have all of them.",
        ],
    )


def _headline(runs: SingleRuns) -> str:
    records = runs.group.records
    seconds = sum(record.run.cpu_seconds for record in records)
    cost = f"{counted(len(records), 'run')} took {duration(seconds)} of one core"
    return runs.headline("no seed has all tasks yet", cost)


def _main_table(runs: Sequence[SingleRuns], note: str) -> Table:
    headings = ["task"]
    for each in runs:
        headings += [each.label, f"{each.label} best"]
    headings += ["paper", "paper best", "REN best", "DMN+ best", "N2N best", "LSTM best"]
    rows: list[Sequence[Cell]] = []
    for task in TASKS:
        ours: list[Cell] = []
        for each in runs:
            ours += [spread(each.errors[task]), each.best[task]]
        rows.append([task, *ours, *_paper(PAPER_SINGLE[task])])
    means: list[Cell] = []
    failures: list[Cell] = []
    for each in runs:
        means += [each.mean, each.mean_of_best]
        failures += [each.failed, failed(list(each.best.values()))]
    rows.append(["mean", *means, *_paper(PAPER_SINGLE_MEAN)])
    rows.append([f"failed (> {FAILED_ABOVE:g} %)", *failures, *_paper(PAPER_SINGLE_FAILED)])
    caption = "Test error in %, a model for each task (Table 2 of the paper)"
    return Table(
        "single-task", caption, tuple(headings), rows, summary_rows=2, note=note, in_paper=True
    )


def _paper(row: PaperRow) -> list[Cell]:
    average = Spread(row.mean, row.deviation, PAPER_SINGLE_SEEDS, PAPER_SINGLE_SEEDS)
    others = [f"{error:g}" for error in (row.best, row.ren, row.dmn, row.n2n, row.lstm)]
    return [average, *others]


def _seed_table(runs: Sequence[SingleRuns], note: str) -> Table:
    rows: list[Sequence[Cell]] = []
    for each in runs:
        for seed, errors in zip(each.seeds, each.of_seed, strict=True):
            bad = [
                task
                for task, error in zip(TASKS, errors, strict=True)
                if error is not None and error > FAILED_ABOVE
            ]
            of_seed = [record for record in each.group.records if record.run.seed == seed]
            diverged = [record.run.task for record in of_seed if record.diverged]
            seconds = sum(record.run.cpu_seconds for record in of_seed)
            tasks = sum(error is not None for error in errors)
            rows.append(
                [
                    each.label,
                    str(seed),
                    str(tasks),
                    mean_of_all(errors),
                    ", ".join(bad) or "none",
                    ", ".join(diverged) or "none",
                    duration(seconds),
                ]
            )
    headings = (
        "preset",
        "seed",
        "tasks",
        "mean error",
        "failed tasks",
        "NaN in",
        "time on one core",
    )
    return Table("single-task-seeds", "Each seed", headings, rows, note=note)
