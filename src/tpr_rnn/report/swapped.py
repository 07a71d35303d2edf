"""The swapped-names test, beside what others have published."""

from collections.abc import Sequence

from tpr_rnn.data.babi.swapped_names import SWAPPED as PROBE
from tpr_rnn.report.numbers import spread
from tpr_rnn.report.published import SWAPPED, SWAPPED_SOURCE
from tpr_rnn.report.records import Group
from tpr_rnn.report.table import Cell, Table


def swapped_row(group: Group) -> list[Cell]:
    """The errors of a group with the names as they are, and swapped."""
    tests = [record.run.probes.get(PROBE) for record in group.records]
    return [
        spread(None if test is None else test.plain_error for test in tests),
        spread(None if test is None else test.error for test in tests),
    ]


def swapped_tables(name: str, groups: Sequence[Group], note: str) -> list[Table]:
    """All questions together, and by task; nothing where no run was put to that test."""
    tests = [record.run.probes.get(PROBE) for group in groups for record in group.records]
    tasks = list(dict.fromkeys(task for test in tests if test for task in test.per_part))
    if not tasks:
        return []
    rows: list[Sequence[Cell]] = [
        [group.system, *swapped_row(group), "this report"] for group in groups
    ]
    rows += [[system, "", f"{error:g}", SWAPPED_SOURCE] for system, error in SWAPPED.items()]
    caption = (
        "The swapped-names test: error in % of all questions of its tasks, with the names "
        "as they are and with names that the task lacks in training"
    )
    headings = ("system", "names as they are", "names swapped", "source")
    by_task: list[Sequence[Cell]] = [
        [task, *(cell for group in groups for cell in _of_task(group, task))] for task in tasks
    ]
    columns = ["task"]
    for group in groups:
        columns += [group.label, f"{group.label}, swapped"]
    return [
        Table(f"{name}-swapped", caption, headings, rows, note=note),
        Table(
            f"{name}-swapped-tasks",
            "The swapped-names test by task: error in %",
            tuple(columns),
            by_task,
            note=note,
        ),
    ]


def _of_task(group: Group, task: str) -> list[Cell]:
    tests = [record.run.probes.get(PROBE) for record in group.records]
    found = [None if test is None else test.per_part.get(task) for test in tests]
    return [
        spread(None if each is None else each.plain_error for each in found),
        spread(None if each is None else each.error for each in found),
    ]
