"""What each of our changes to the paper's recipe for all tasks brings, by taking it back."""

from collections.abc import Sequence

from tpr_rnn.data.babi.swapped_names import SWAPPED
from tpr_rnn.experiments.recipe_ablation import VARIANTS
from tpr_rnn.report.numbers import CONVENTION, mean_of_all, spread
from tpr_rnn.report.records import Group, Record
from tpr_rnn.report.section import Section, counted, data_note, settings_table, substituted_note
from tpr_rnn.report.swapped import swapped_row
from tpr_rnn.report.table import Cell, Table
from tpr_rnn.settings import setting_value
from tpr_rnn.times import duration

BASE = next(iter(VARIANTS))
"""The variant with all changes."""


def recipe_ablation(records: Sequence[Record]) -> Section:
    """The section about recipes that lack one of our changes."""
    groups = [
        Group(variant, tuple(sorted(members, key=lambda record: record.run.seed)))
        for variant in dict.fromkeys([*VARIANTS, *(record.run.variant for record in records)])
        if (members := [record for record in records if record.run.variant == variant])
    ]
    note = substituted_note(groups)
    seconds = sum(record.run.cpu_seconds for record in records)
    return Section(
        "recipe-ablation",
        "Recipe ablation: each of our changes taken back",
        [f"{counted(len(records), 'run')} took {duration(seconds)} of one core"],
        [
            _gain_table(groups, note),
            _probe_table(groups, note),
            settings_table("recipe-ablation-settings", groups, "paper-all"),
            "## Stories",
            data_note(groups),
            "## How to read it",
            "The first table is on validation questions, for that is where settings are chosen. "
            "The gain of a change is the mean over seeds of what is lost by taking it back.",
            CONVENTION,
        ],
    )


def _gain_table(groups: Sequence[Group], note: str) -> Table:
    base = next((group for group in groups if group.label == BASE), None)
    of_base = {} if base is None else _valid_errors(base)
    rows: list[Sequence[Cell]] = []
    for group in groups:
        errors = _valid_errors(group)
        setting, before, after = "", "", ""
        if base is not None and group is not base:
            names = [
                name
                for name, value in base.first.settings.items()
                if group.first.settings.get(name) != value
            ]
            setting = ", ".join(names)
            before, after = (
                ", ".join(setting_value(each.first.settings.get(name)) for name in names)
                for each in (base, group)
            )
        gains = [errors[seed] - of_base[seed] for seed in errors if seed in of_base]
        gain = spread(gains) if gains and group is not base else ""
        rows.append([group.label, setting, before, after, spread(errors.values()), gain])
    headings = ("variant", "setting", "with all", "taken back", "valid error", "gain")
    caption = "Validation error in % (mean over tasks) with all changes, and with one taken back"
    return Table("recipe-ablation", caption, headings, rows, note=note)


def _valid_errors(group: Group) -> dict[int, float]:
    return {record.run.seed: record.run.valid.error for record in group.records}


def _probe_table(groups: Sequence[Group], note: str) -> Table:
    """The test errors, with the names as they are and swapped."""
    rows: list[Sequence[Cell]] = [
        [
            group.label,
            spread(mean_of_all(list(record.errors.values())) for record in group.records),
            *swapped_row(group),
            _each(group),
        ]
        for group in groups
    ]
    headings = ("variant", "test error", "names as they are", "names swapped", "swapped, each seed")
    caption = (
        "Test error in % (mean over tasks), and the swapped-names test: error in % of all "
        "questions of its tasks"
    )
    return Table("recipe-ablation-test", caption, headings, rows, note=note)


def _each(group: Group) -> str:
    tests = [record.run.probes.get(SWAPPED) for record in group.records]
    return ", ".join("missing" if test is None else f"{test.error:.1f}" for test in tests)
