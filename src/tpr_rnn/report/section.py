"""A section of a report: text, tables and figures about one experiment."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tpr_rnn.data.corpus import task_order
from tpr_rnn.report.numbers import Spread
from tpr_rnn.report.published import Published
from tpr_rnn.report.records import Group
from tpr_rnn.report.table import Cell, Table
from tpr_rnn.settings import setting_value
from tpr_rnn.training.presets import preset


@dataclass(frozen=True)
class Figure:
    """A picture that is drawn when the report is written."""

    name: str
    caption: str
    draw: Callable[[Any], Any]
    """Pyplot -> figure."""


@dataclass(frozen=True)
class Section:
    """What is to be said about one experiment."""

    name: str
    title: str
    headlines: Sequence[str]
    """What to remember of it."""
    parts: Sequence[str | Table | Figure]


def peers_table(
    name: str,
    caption: str,
    ours: Sequence[Sequence[Cell]],
    peers: Sequence[Published],
    note: str,
    in_paper: bool = False,
) -> Table:
    """Our rows (system, error, best, failed tasks, source) above those of others."""
    headings = ("system", "error", "best", "failed tasks", "source")
    rows: list[Sequence[Cell]] = [*ours]
    for peer in peers:
        average: Cell = peer.mean or ""
        if isinstance(peer.mean, float):
            average = Spread(peer.mean, peer.deviation)
        numbers = ["" if number is None else f"{number:g}" for number in (peer.best, peer.failed)]
        rows.append([peer.system, average, *numbers, peer.source])
    return Table(name, caption, headings, rows, note=note, in_paper=in_paper)


def settings_table(name: str, groups: Sequence[Group], paper: str) -> Table:
    """The settings in which any group differs from a preset of the paper."""
    papers = preset(paper).all_settings()
    others = [group for group in groups if group.first.settings != papers]
    names = dict.fromkeys([*papers, *(name for group in others for name in group.first.settings)])
    different = {
        setting: papers.get(setting, "")
        for setting in names
        if any(group.first.settings.get(setting) != papers.get(setting) for group in others)
    }
    recipe = preset(paper).as_json()["recipe"]
    model = ", ".join(setting for setting in different if setting not in recipe) or "none"
    caption = (
        f"Settings other than the paper's (`{paper}`, which says what it had to assume); those of "
        f"the model itself: {model}"
    )
    rows = [
        [
            setting,
            *(setting_value(group.first.settings.get(setting, "")) for group in others),
            setting_value(value),
        ]
        for setting, value in different.items()
    ]
    headings = ("setting", *(group.label for group in others), "the paper")
    return Table(name, caption, headings, rows, note=_changes_note(groups))


def _changes_note(groups: Sequence[Group]) -> str:
    """Which groups are not what their presets say."""
    notes = []
    for group in groups:
        changes = ", ".join(
            f"{name} {setting_value(now)} (not {setting_value(usual)})"
            for name, (now, usual) in group.first.changed().items()
        )
        if changes:
            notes.append(
                f"`{group.label}` is the preset `{group.first.run.preset}` with {changes}."
            )
    return " ".join(notes)


def substituted_note(groups: Sequence[Group]) -> str:
    """What tasks without a training file were trained on: every table of results must say it."""
    said = {
        (task, sentence)
        for group in groups
        for record in group.records
        for task, sentence in record.run.substituted.items()
    }
    in_order = sorted(said, key=lambda each: (task_order(each[0]), each[1]))
    return " ".join(f"Task {task} was trained on other stories, {text}." for task, text in in_order)


def data_note(groups: Sequence[Group]) -> str:
    """Where the stories come from."""
    return "\n".join(f"- `{group.label}`: `{group.first.run.data}`" for group in groups)


def missing_note(missing: Mapping[str, Mapping[str, Sequence[int]]]) -> str:
    """Which runs are not there: label -> task -> seeds."""
    lines = [
        f"- `{label}`: task {task}, seed {', '.join(map(str, seeds))}"
        for label, tasks in missing.items()
        for task, seeds in tasks.items()
        if seeds
    ]
    return "\n".join(lines) if lines else "No run is missing."


def counted(number: int | None, name: str) -> str:
    """Such as 1 seed, 5 seeds."""
    return f"{number} {name}" if number == 1 else f"{number} {name}s"
