"""Any runs beside a baseline, on validation questions: what a change of settings brings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from statistics import fmean, stdev
from typing import Any

from tpr_rnn.data.corpus import task_order
from tpr_rnn.errors import UserError, quoted
from tpr_rnn.report.numbers import FAILED_ABOVE, spread, two_places
from tpr_rnn.report.records import Trained, kind_of, labels
from tpr_rnn.report.section import Figure, Section, counted
from tpr_rnn.report.table import Cell, Table

_T = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
"""Student's t for 95 %, of 1 to 30 degrees of freedom."""
_NORMAL = 1.96

Errors = Mapping[tuple[str, int], float]
"""Validation errors in percent, by task and seed."""


@dataclass(frozen=True)
class Difference:
    """How much more error than the baseline, on the tasks and seeds that both have."""

    mean: float
    half_width: float | None
    """Of its 95 % interval; None: one seed has none."""
    seeds: int


def baseline_section(records: Sequence[Trained], name: str) -> Section:
    """The section about runs beside those of a baseline.

    Args:
        records: runs of any kind; how many tasks and seeds each kind has does not matter.
        name: the label of the baseline.
    """
    groups = _groups(records)
    if name not in groups:
        raise UserError(
            f"there is no baseline {quoted(name)} in these runs; there are: {_listed(groups)}"
        )
    base = groups.pop(name)
    differences = {label: difference(errors, base) for label, errors in groups.items()}
    return Section(
        "baseline",
        f"Beside {name}",
        [f"`{label}`: {_sentence(found)}" for label, found in differences.items()],
        [
            _table(name, base, groups, differences),
            *(
                [Figure("baseline-differences", _CAPTION, partial(draw, differences=shown))]
                if (shown := {k: v for k, v in differences.items() if v is not None})
                else []
            ),
            _task_table({name: base, **groups}),
            "## How to read it",
            _HOW_TO_READ,
        ],
    )


_HOW_TO_READ = (
    "Errors are on validation questions, for that is where settings are chosen: the mean over "
    "tasks of the mean over the seeds that are there. A difference is taken seed by seed, on the "
    "tasks that both have for that seed; its interval is that of Student's t over seeds. One seed "
    "has no interval, and 0 within an interval is no difference that these seeds show. A task has "
    f"failed when its error is over {FAILED_ABOVE:g} %."
)
_CAPTION = (
    "Validation error less that of the baseline, in points, with its 95 % interval over seeds."
)


def difference(errors: Errors, base: Errors) -> Difference | None:
    """How far some errors are from those of a baseline; None where they share no run."""
    shared = [run for run in errors if run in base]
    of_seed = [
        fmean(errors[task, seed] - base[task, seed] for task, other in shared if other == seed)
        for seed in sorted({seed for _, seed in shared})
    ]
    if not of_seed:
        return None
    freedom, half = len(of_seed) - 1, None
    if freedom:
        t = _T[freedom - 1] if freedom <= len(_T) else _NORMAL
        half = t * stdev(of_seed) / sqrt(len(of_seed))
    return Difference(fmean(of_seed), half, len(of_seed))


def mean_error(errors: Errors) -> float:
    """The mean over tasks of the mean over what seeds are there."""
    return fmean(fmean(seeds.values()) for seeds in _by_task(errors).values())


def draw(plot: Any, differences: Mapping[str, Difference]) -> Any:
    """A point for each kind of runs, with its interval."""
    figure, axes = plot.subplots(figsize=(8, 1.2 + 0.35 * len(differences)), layout="constrained")
    for place, found in enumerate(differences.values()):
        axes.errorbar(found.mean, place, xerr=found.half_width, fmt="o", color="#1f77b4", capsize=3)
    axes.axvline(0, color="#777777", linewidth=1)
    axes.set_yticks(range(len(differences)), list(differences))
    axes.invert_yaxis()
    axes.set_xlabel("validation error less that of the baseline, in points")
    axes.grid(axis="x", alpha=0.3)
    return figure


def _groups(records: Sequence[Trained]) -> dict[str, dict[tuple[str, int], float]]:
    """The errors of each kind of runs, by its label."""
    kinds: dict[tuple[str, ...], dict[tuple[str, int], float]] = {}
    for record in records:
        errors = kinds.setdefault(kind_of(record), {})
        for task, each in record.run.valid.per_task.items():
            if errors.setdefault((task, record.run.seed), each.error) != each.error:
                raise UserError(
                    f"{record.place}: another run has its settings, task {task} and seed, "
                    "and another error; leave out one of them"
                )
    return {label: kinds[kind] for kind, label in labels(records).items()}


def _by_task(errors: Errors) -> dict[str, dict[int, float]]:
    found: dict[str, dict[int, float]] = {}
    for task, seed in sorted(errors, key=lambda run: (task_order(run[0]), run[1])):
        found.setdefault(task, {})[seed] = errors[task, seed]
    return found


def _table(
    name: str,
    base: Errors,
    groups: Mapping[str, Errors],
    differences: Mapping[str, Difference | None],
) -> Table:
    rows = [
        _row(label, errors, differences.get(label))
        for label, errors in {name: base, **groups}.items()
    ]
    headings = (
        "runs",
        "number",
        "tasks",
        "seeds",
        "error",
        "failed tasks",
        "difference",
        "95 % interval",
        "from seeds",
    )
    return Table(
        "baseline",
        f"Validation error in %, and the difference to `{name}` in points",
        headings,
        rows,
    )


def _row(label: str, errors: Errors, found: Difference | None) -> list[Cell]:
    tasks = _by_task(errors)
    failed = sum(fmean(seeds.values()) > FAILED_ABOVE for seeds in tasks.values())
    seeds = {seed for _, seed in errors}
    cells: list[Cell] = [label, str(len(errors)), str(len(tasks)), str(len(seeds))]
    cells += [mean_error(errors), str(failed)]
    if found is None:
        return [*cells, "", "", ""]
    return [*cells, _signed(found.mean), _interval(found), str(found.seeds)]


def _task_table(groups: Mapping[str, Errors]) -> Table:
    by_task = {label: _by_task(errors) for label, errors in groups.items()}
    tasks = sorted({task for each in by_task.values() for task in each}, key=task_order)
    rows: list[Sequence[Cell]] = [
        [task, *(spread(each.get(task, {}).values()) for each in by_task.values())]
        for task in tasks
    ]
    return Table("baseline-tasks", "Validation error in %, by task", ("task", *groups), rows)


def _sentence(found: Difference | None) -> str:
    if found is None:
        return "no task and seed in common with the baseline"
    text = f"{_signed(found.mean)} points, from {counted(found.seeds, 'seed')}"
    return text if found.half_width is None else f"{text} (95 % interval {_interval(found)})"


def _interval(found: Difference) -> str:
    if found.half_width is None:
        return ""
    return f"{_signed(found.mean - found.half_width)} to {_signed(found.mean + found.half_width)}"


def _signed(number: float) -> str:
    text = two_places(number)
    return "0.00" if text == "-0.00" else text if text.startswith("-") else f"+{text}"


def _listed(groups: Mapping[str, Errors]) -> str:
    return "; ".join(groups)
