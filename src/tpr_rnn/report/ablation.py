"""Table 3 of the paper, side by side with ours: which operations does a task need?"""

from collections.abc import Sequence
from functools import partial

from tpr_rnn.experiments.ablation import VARIANTS
from tpr_rnn.memory import OPERATIONS, SPECS
from tpr_rnn.report.figures import draw_ablation
from tpr_rnn.report.numbers import (
    CONVENTION,
    FAILED_ABOVE,
    TASKS,
    Spread,
    mean_of_all,
    spread,
)
from tpr_rnn.report.published import PAPER_ABLATION
from tpr_rnn.report.records import Group, Record, group_records
from tpr_rnn.report.section import (
    Figure,
    Section,
    counted,
    data_note,
    missing_note,
    settings_table,
    substituted_note,
)
from tpr_rnn.report.table import Cell, Table
from tpr_rnn.times import duration


class _Variants:
    """The numbers of one group, by variant and task."""

    def __init__(self, group: Group) -> None:
        self.group, self.label, self.seeds = group, group.label, group.seeds
        self.errors = {
            variant: {
                task: [_error(group, task, seed, variant) for seed in self.seeds] for task in TASKS
            }
            for variant in VARIANTS
        }
        self.spreads: dict[str, dict[str, Spread | None]] = {
            variant: {task: spread(errors) for task, errors in tasks.items()}
            for variant, tasks in self.errors.items()
        }

    def means(self, variant: str) -> dict[str, float | None]:
        """The mean error of each task."""
        return {
            task: None if each is None else each.mean
            for task, each in self.spreads[variant].items()
        }

    def mean(self, variant: str) -> Spread | None:
        """The mean over tasks, with its deviation over seeds."""
        return spread(map(mean_of_all, zip(*self.errors[variant].values(), strict=True)))

    def failed(self, variant: str) -> list[str]:
        """The tasks whose mean error is too high."""
        means = self.means(variant)
        return [task for task, mean in means.items() if mean is not None and mean > FAILED_ABOVE]

    def count(self, variant: str) -> int:
        """How many tasks there are runs of."""
        return sum(each is not None for each in self.spreads[variant].values())

    def verdict(self, variant: str) -> str:
        """How many of its tasks fail."""
        there = self.count(variant)
        if not there:
            return "has not been run"
        return f"fails at {len(self.failed(variant))} of {counted(there, 'task')}"

    def missing(self, variant: str) -> dict[str, list[int]]:
        """Task -> seeds without a run."""
        return {
            task: [seed for seed, error in zip(self.seeds, errors, strict=True) if error is None]
            for task, errors in self.errors[variant].items()
        }


def _error(group: Group, task: str, seed: int, variant: str) -> float | None:
    for record in group.records:
        if (record.run.task, record.run.seed, record.run.variant) == (task, seed, variant):
            return record.errors[task]
    return None


def ablation(records: Sequence[Record]) -> Section:
    """The section about runs without some operation."""
    groups = group_records(records, apart_from="operations")
    note = substituted_note(groups)
    letters = ", ".join(f"{SPECS[name].symbol}: {SPECS[name].title}" for name in OPERATIONS)
    parts: list[str | Table | Figure] = []
    headlines: list[str] = []
    missing: dict[str, dict[str, list[int]]] = {}
    for number, group in enumerate(groups):
        variants = _Variants(group)
        name = "ablation" if number == 0 else f"ablation-{number + 1}"
        seconds = sum(record.run.cpu_seconds for record in group.records)
        failures = "; ".join(f"{variant} {variants.verdict(variant)}" for variant in VARIANTS)
        headlines.append(
            f"`{group.label}`, {counted(len(variants.seeds), 'seed')}: {failures}; "
            f"{counted(len(group.records), 'run')} took {duration(seconds)} of one core"
        )
        parts += [
            _failure_table(f"{name}-failed", variants, note),
            _error_table(name, variants, note),
            Figure(
                f"{name}-errors",
                f"`{group.label}`: mean test error in % for each choice of operations; "
                f"framed: over {FAILED_ABOVE:g} %, failed.",
                partial(draw_ablation, means={each: variants.means(each) for each in VARIANTS}),
            ),
        ]
        for variant in VARIANTS:
            missing[f"{group.label} {variant}"] = variants.missing(variant)
    parts += [
        settings_table("ablation-settings", groups, "paper-single"),
        "## Stories",
        data_note(groups),
        "## Missing runs",
        missing_note(missing),
        "## How to read it",
        f"{letters}. A task counts as failed if its mean error over seeds is "
        f"over {FAILED_ABOVE:g} %. The paper's Table 3 has no row for W+M+B.",
        CONVENTION,
    ]
    return Section("ablation", "Ablation: the memory's operations", headlines, parts)


def _failure_table(name: str, variants: _Variants, note: str) -> Table:
    rows: list[Sequence[Cell]] = []
    for variant in VARIANTS:
        there = variants.count(variant)
        ours = _listed(variants.failed(variant)) if there else None
        tasks = "" if there == len(TASKS) else f" (of {there} tasks)"
        paper = _listed(PAPER_ABLATION[variant]) if variant in PAPER_ABLATION else ""
        rows.append(
            [variant, variants.mean(variant), None if ours is None else ours + tasks, paper]
        )
    headings = ("operations", "mean error", "failed tasks", "the paper's")
    caption = f"Failed tasks (mean error over {FAILED_ABOVE:g} %), `{variants.label}` (Table 3)"
    return Table(name, caption, headings, rows, note=note, in_paper=True)


def _listed(tasks: Sequence[str]) -> str:
    return ", ".join(tasks) or "none"


def _error_table(name: str, variants: _Variants, note: str) -> Table:
    rows: list[Sequence[Cell]] = [
        [task, *(variants.spreads[variant][task] for variant in VARIANTS)] for task in TASKS
    ]
    rows.append(["mean", *map(variants.mean, VARIANTS)])
    caption = f"Test error in % for each choice of operations, `{variants.label}`"
    return Table(name, caption, ("task", *VARIANTS), rows, summary_rows=1, note=note)
