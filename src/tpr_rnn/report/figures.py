"""The figures of a report; whoever calls saves and closes them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tpr_rnn.evaluation.record import CurvePoint
from tpr_rnn.pictures import COLOURS
from tpr_rnn.report.numbers import FAILED_ABOVE, TASKS
from tpr_rnn.report.published import PAPER_HOURS, PAPER_STEPS

ERRORS_CAPTION = (
    "Test error of every run (dots) and their mean (bars), by task. The scale is linear up to "
    f"0.1 % and logarithmic above; over {FAILED_ABOVE:g} % (dashed) a task has failed."
)
_GREY = "#777777"
_LINES = ("-", "--")
"""The styles of curves: the second one where there are more than colours."""
_LEAST = 0.01
"""The lowest error that a logarithmic axis shows."""


@dataclass(frozen=True)
class Curve:
    """The learning curve of one run."""

    label: str
    seed: int
    points: Sequence[CurvePoint]
    batch_size: int

    def axis(self, name: str) -> np.ndarray:
        """One coordinate of its points; of `questions`, how many they were trained on."""
        if name == "questions":
            return self.axis("step") * self.batch_size
        return np.array([getattr(point, name) for point in self.points], dtype=float)


def draw_errors(
    plot: Any,
    series: Mapping[str, Mapping[str, Sequence[float | None]]],
    paper: Mapping[str, float],
) -> Any:
    """Every run's error by task, for several presets, with the paper's mean."""
    columns = 4 if sum(map(len, series)) < 60 else 1
    above = 0.22 * math.ceil((len(series) + 1) / columns)  # inches for the legend
    figure, axes = plot.subplots(figsize=(10, 4.2 + above), layout="constrained")
    positions = np.arange(len(TASKS))
    width = 0.7 / len(series)
    for number, (label, errors) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        centre = positions + (number - (len(series) - 1) / 2) * width
        there = {task: [each for each in errors[task] if each is not None] for task in TASKS}
        heights = [float(np.mean(there[task])) if there[task] else 0.0 for task in TASKS]
        axes.bar(centre, heights, width * 0.9, color=colour, alpha=0.45, label=label)
        for x, task in zip(centre, TASKS, strict=True):
            runs = len(there[task])
            across = x + (np.arange(runs) - (runs - 1) / 2) * 0.14 * width
            axes.plot(across, there[task], ".", color=colour, markersize=5, clip_on=False, zorder=3)
    axes.plot(
        positions,
        [paper[task] for task in TASKS],
        linestyle="none",
        marker="_",
        markersize=18,
        markeredgewidth=2,
        color="black",
        clip_on=False,
        label="the paper (mean)",
    )
    axes.axhline(FAILED_ABOVE, color=_GREY, linestyle="--", linewidth=1)
    axes.set_yscale("symlog", linthresh=0.1)
    ticks = (0, 0.1, 0.3, 1, 3, 10, 30, 100)
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.yaxis.set_minor_locator(plot.NullLocator())
    axes.set_ylim(0, 100)
    axes.set_xticks(positions, TASKS)
    axes.set_xlim(-0.6, len(TASKS) - 0.4)
    axes.set_xlabel("task")
    axes.set_ylabel("test error in %")
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    handles, labels = axes.get_legend_handles_labels()
    handles, labels = handles[1:] + handles[:1], labels[1:] + labels[:1]  # ours first
    figure.legend(handles, labels, loc="outside upper center", ncols=columns, frameon=False)
    return figure


def draw_ablation(plot: Any, means: Mapping[str, Mapping[str, float | None]]) -> Any:
    """Mean errors by operations and task, as a table of colours."""
    from matplotlib.colors import LogNorm

    figure, axes = plot.subplots(figsize=(11, 2.9), layout="constrained")
    cells = _cells(means)
    image = axes.imshow(np.maximum(cells, 0.1), norm=LogNorm(0.1, 100), cmap="Blues", aspect="auto")
    _write_cells(axes, cells, dark=cells > 8, framed=cells > FAILED_ABOVE)
    _name_cells(axes, TASKS, list(means))
    bar = figure.colorbar(image, ax=axes, pad=0.01)
    bar.set_label("test error in %")
    bar.set_ticks([0.1, 1, 10, 100], labels=["0.1", "1", "10", "100"])
    bar.ax.yaxis.set_minor_locator(plot.NullLocator())
    return figure


def draw_pairs(
    plot: Any,
    means: Mapping[str, Mapping[str, float | None]],
    trained: Mapping[str, Sequence[str]],
) -> Any:
    """Mean accuracies by name and task, as a table of colours."""
    figure, axes = plot.subplots(figsize=(8, 3.1), layout="constrained")
    tasks = list(next(iter(means.values())))
    cells = _cells(means)
    low = min(90.0, float(np.nanmin(cells)))
    image = axes.imshow(cells, vmin=low, vmax=100, cmap="Blues_r", aspect="auto")
    new = np.array([[task not in trained[name] for task in tasks] for name in means])
    _write_cells(axes, cells, dark=cells < (low + 100) / 2, framed=new)
    _name_cells(axes, tasks, list(means))
    figure.colorbar(image, ax=axes, pad=0.01).set_label("accuracy in %")
    return figure


def draw_names(
    plot: Any,
    series: Mapping[str, Mapping[tuple[str, int], tuple[Sequence[float], Sequence[float]]]],
) -> Any:
    """Every run's accuracy by name, in the tasks that the name is trained in and in the others.

    Args:
        plot: pyplot.
        series: by system, then by name and number of trained tasks: the accuracies of the runs, in
            trained and in untrained tasks; none where there are no such tasks.
    """
    figure, axes = plot.subplots(figsize=(9, 4.2), layout="constrained")
    names = list(next(iter(series.values())))
    width = 0.8 / (2 * len(series))
    lowest = 100.0
    for number, (label, accuracies) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        for side, (kind, face) in enumerate((("trained", colour), ("untrained", "none"))):
            centre = np.arange(len(names)) + (2 * number + side - len(series) + 0.5) * width
            there = [accuracies[name][side] for name in names]
            # Not bars: their lengths would not be what they say where the axis starts above 0.
            axes.plot(
                centre,
                [float(np.mean(runs)) if runs else np.nan for runs in there],
                "D",
                color=colour,
                markerfacecolor=face,
                markersize=6,
                clip_on=False,  # many stand at 100 %
                zorder=3,
                label=f"{label}, {kind}".replace("`", ""),
            )
            for x, runs in zip(centre, there, strict=True):
                if runs:
                    across = x + (np.arange(len(runs)) - (len(runs) - 1) / 2) * 0.12 * width
                    axes.plot(
                        across, runs, ".", color=colour, markersize=4, alpha=0.6, clip_on=False
                    )
                    lowest = min(lowest, *runs)
    axes.set_ylim(max(0.0, 5 * np.floor(lowest / 5) - 5), 100)
    axes.set_xticks(range(len(names)), [f"{name}\n{count}" for name, count in names])
    axes.set_xlabel("new name, and the tasks that it is trained in")
    axes.set_ylabel("accuracy in %, mean over tasks")
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return figure


def _cells(means: Mapping[str, Mapping[str, float | None]]) -> np.ndarray:
    return np.array(
        [[np.nan if each is None else each for each in row.values()] for row in means.values()],
        dtype=float,
    )


def _write_cells(axes: Any, cells: np.ndarray, dark: np.ndarray, framed: np.ndarray) -> None:
    """Write the numbers into a table of colours, and frame some of them."""
    from matplotlib.patches import Rectangle

    for row, column in np.ndindex(cells.shape):
        number = cells[row, column]
        axes.text(
            column,
            row,
            "-" if np.isnan(number) else f"{number:.1f}",
            ha="center",
            va="center",
            fontsize=9,
            color="white" if dark[row, column] else "black",
        )
        if framed[row, column]:
            corner = (column - 0.47, row - 0.46)
            axes.add_patch(
                Rectangle(
                    corner, 0.94, 0.92, fill=False, edgecolor=COLOURS[1], linewidth=2, zorder=3
                )
            )


def _name_cells(axes: Any, tasks: Sequence[str], rows: Sequence[str]) -> None:
    """Lines between the cells of a table of colours, and what its rows and columns are."""
    axes.set_facecolor("#EEEEEE")
    axes.hlines(np.arange(len(rows) - 1) + 0.5, -0.5, len(tasks) - 0.5, color="white", linewidth=2)
    axes.vlines(np.arange(len(tasks) - 1) + 0.5, -0.5, len(rows) - 0.5, color="white", linewidth=2)
    axes.set_xticks(range(len(tasks)), tasks)
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0)
    axes.set_xlabel("task")


def draw_curves(plot: Any, curves: Sequence[Curve]) -> Any:
    """Validation error against steps and against minutes, with what the paper's models took."""
    sides = (("step", 1.0, "training steps"), ("cpu_seconds", 60.0, "minutes of one core"))
    figure, panels = _draw_error_curves(plot, curves, sides)
    marks = ((PAPER_STEPS, "the paper"), (60 * PAPER_HOURS, f"{PAPER_HOURS} h, a GPU"))
    for axes, (mark, text) in zip(panels, marks, strict=True):
        axes.axvline(mark, color="black", linestyle=":", linewidth=1.2)
        axes.annotate(
            text,
            (mark, 90),
            xytext=(-4, 0),
            textcoords="offset points",
            rotation=90,
            ha="right",
            va="top",
            fontsize=8,
        )
    return figure


def draw_comparison(plot: Any, curves: Sequence[Curve]) -> Any:
    """Validation error of several systems against questions and against minutes."""
    sides = (("questions", 1.0, "training questions"), ("cpu_seconds", 60.0, "minutes of one core"))
    return _draw_error_curves(plot, curves, sides)[0]


def _draw_error_curves(
    plot: Any, curves: Sequence[Curve], sides: Sequence[tuple[str, float, str]]
) -> tuple[Any, Any]:
    """A panel for each side (axis of the curves, its unit, heading); each seed, and the mean."""
    figure, panels = plot.subplots(1, 2, figsize=(11, 4.4), sharey=True, layout="constrained")
    labels = list(dict.fromkeys(curve.label for curve in curves))
    for axes, (name, unit, heading) in zip(panels, sides, strict=True):
        for number, label in enumerate(labels):
            colour, line = COLOURS[number % len(COLOURS)], _LINES[number // len(COLOURS)]
            members = [curve for curve in curves if curve.label == label]
            for curve in members:
                errors = np.maximum(curve.axis("valid_error"), _LEAST)
                axes.plot(
                    curve.axis(name) / unit, errors, line, color=colour, linewidth=0.8, alpha=0.5
                )
            x, y = _mean_curve(members, name)
            seeds = f"{len(members)} seed{'s' if len(members) > 1 else ''}"
            axes.plot(x / unit, y, line, color=colour, linewidth=2.2, label=f"{label} ({seeds})")
        axes.axhline(FAILED_ABOVE, color=_GREY, linestyle="--", linewidth=1)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(heading)
        axes.xaxis.set_major_formatter(lambda number, _: f"{number:,g}")
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("validation error in %, mean over tasks")
    ticks = (0.1, 0.3, 1, 3, 5, 10, 30, 100)
    panels[0].set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    panels[0].yaxis.set_minor_locator(plot.NullLocator())
    panels[0].legend(loc="lower left", frameon=False)
    return figure, panels


def _mean_curve(curves: Sequence[Curve], name: str) -> tuple[np.ndarray, np.ndarray]:
    """The mean of several curves, where all of them have points."""
    begin = max(curve.axis(name)[0] for curve in curves)
    end = min(curve.axis(name)[-1] for curve in curves)
    places = np.unique(np.concatenate([curve.axis(name) for curve in curves]))
    places = places[(places >= begin) & (places <= end)]
    heights = [np.interp(places, curve.axis(name), curve.axis("valid_error")) for curve in curves]
    return places, np.maximum(np.mean(heights, axis=0), _LEAST)
