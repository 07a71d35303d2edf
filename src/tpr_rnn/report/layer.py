"""What the memory is good for as a layer: accuracy by task, at the best learning rate of each."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from statistics import mean
from typing import Any

from tpr_rnn.data.recall import KINDS, RECALL_TASKS, tasks_of
from tpr_rnn.experiments.layer import VARIANTS, variants
from tpr_rnn.models.layer_reader import LAYERS
from tpr_rnn.pictures import COLOURS
from tpr_rnn.report.numbers import spread, two_places
from tpr_rnn.report.records import Record
from tpr_rnn.report.section import Figure, Section, counted
from tpr_rnn.report.table import Cell, Table
from tpr_rnn.times import duration

TITLES = {
    "one-key": "Recall by one key, by the number of pairs",
    "two-keys": "Recall by two keys, by the number of pairs",
    "both-ways": "Recall in both directions, by the number of pairs",
    "before-last": "The value before the last, by the number of keys",
    "hops": "Recall over several hops in one layer, by their number",
    "permute": "What is under which cup, by the number of cups",
}
ENOUGH = 90.0
"""The accuracy in percent down to which a layer holds so many pairs."""

Best = Mapping[tuple[str, str], Sequence[Record]]
"""The runs of a layer and a task at the learning rate that is best on validation."""


def layer(records: Sequence[Record]) -> Section:
    """The section about layers."""
    best = _best(records)
    seconds = sum(record.run.cpu_seconds for record in records)
    tried = {(record.run.variant, record.run.task) for record in records}
    wanted = {(variant, task) for task in RECALL_TASKS for variant in variants(task)}
    parts: list[str | Table | Figure] = []
    for kind in KINDS:
        if any(task in tasks_of(kind) for _, task in best):
            parts += [_table(kind, best), _figure(kind, best)]
    parts += [
        _rates_table(best, tried),
        "## How to read it",
        "Accuracy in percent on test stories, mean ± the sample's standard deviation over seeds. "
        "The same small model is around each layer, with about as many parameters in all; the "
        "delta rule's state has as many numbers as the memory's. Each layer is trained with every "
        "learning rate of the experiment, and shown with the one whose validation error is least; "
        "the last table says of how many (*of*), and by how many seeds. "
        "A pair is one step, and all questions come behind the story.",
    ]
    headlines = [
        f"{counted(len(records), 'run')} took {duration(seconds)} of one core",
        f"{len(tried & wanted)} of {len(wanted)} combinations of task, layer and learning rate",
    ]
    return Section(
        "layer", "What the memory is good for, as a layer", headlines + _held(best), parts
    )


def layer_of(record: Record) -> str:
    """The layer's name: the variant without the learning rate."""
    return record.run.variant.rpartition("-")[0]


def _best(records: Sequence[Record]) -> Best:
    by_rate: dict[tuple[str, str], dict[float, list[Record]]] = {}
    for record in records:
        runs = by_rate.setdefault((layer_of(record), record.run.task), {})
        runs.setdefault(record.settings["learning_rate"], []).append(record)
    return {
        key: min(rates.values(), key=lambda runs: mean(record.run.valid.error for record in runs))
        for key, rates in by_rate.items()
    }


def _accuracies(runs: Sequence[Record]) -> list[float]:
    return [100 - record.test.error for record in runs]


def _table(kind: str, best: Best) -> Table:
    rows: list[Sequence[Cell]] = [
        [_title(name), *(_cell(best.get((name, task), ())) for task in tasks_of(kind))]
        for name in _layers(kind, best)
    ]
    numbers = map(str, tasks_of(kind).values())
    return Table(f"layer-{kind}", f"{TITLES[kind]}: accuracy in %", ("layer", *numbers), rows)


def _cell(runs: Sequence[Record]) -> Cell:
    return spread(_accuracies(runs)) if runs else None


def _layers(kind: str, best: Best) -> list[str]:
    return [name for name in VARIANTS if any((name, task) in best for task in tasks_of(kind))]


def _title(name: str) -> str:
    settings = VARIANTS[name]
    operations = settings.get("operations")
    more = f" ({operations.replace(',', ', ')})" if operations else ""
    return f"{LAYERS[settings['layer']]}{more}"


def _figure(kind: str, best: Best) -> Figure:
    series = {
        _title(name): {
            number: mean(_accuracies(best[name, task]))
            for task, number in tasks_of(kind).items()
            if (name, task) in best
        }
        for name in _layers(kind, best)
    }
    caption = f"{TITLES[kind]}: mean accuracy over seeds."
    return Figure(
        f"layer-{kind}", caption, partial(draw_accuracy, title=TITLES[kind], series=series)
    )


def draw_accuracy(plot: Any, title: str, series: Mapping[str, Mapping[int, float]]) -> Any:
    """Accuracy against how much is told, a line for each layer."""
    figure, axes = plot.subplots(figsize=(6, 3.4), layout="constrained")
    styles = zip(COLOURS, "os^Dvp", strict=True)
    for (label, points), (colour, marker) in zip(series.items(), styles, strict=False):
        axes.plot(list(points), list(points.values()), color=colour, marker=marker, label=label)
    axes.set_xticks(sorted({number for points in series.values() for number in points}))
    axes.set_ylim(0, 102)
    axes.set_xlabel(title)
    axes.set_ylabel("accuracy in %")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)
    return figure


def _rates_table(best: Best, tried: Collection[tuple[str, str]]) -> Table:
    by_layer = [(variant.rpartition("-")[0], task) for variant, task in tried]
    rows: list[Sequence[Cell]] = [
        [
            task,
            _title(name),
            f"{runs[0].settings['learning_rate']:g}",
            sum(layer == name and there == task for layer, there in by_layer),
            two_places(mean(record.run.valid.error for record in runs)),
            runs[0].run.parameters,
            len(runs),
        ]
        for (name, task), runs in best.items()
    ]
    headings = ("task", "layer", "learning rate", "of", "valid error %", "parameters", "seeds")
    return Table("layer-rates", "The learning rate that was best on validation", headings, rows)


def _held(best: Best) -> list[str]:
    """How many pairs each layer holds."""
    lines = []
    for name in _layers("one-key", best):
        held = [
            number
            for task, number in tasks_of("one-key").items()
            if (name, task) in best and mean(_accuracies(best[name, task])) >= ENOUGH
        ]
        most = f"{max(held)} pairs" if held else "fewer pairs than were tried"
        lines.append(f"{_title(name)}: recall by one key stays over {ENOUGH:g} % for {most}")
    return lines
