"""The paper's experiment on systematic generalisation: names that are new in a task."""

from collections.abc import Sequence
from functools import partial
from statistics import mean, stdev

from tpr_rnn.data.corpus import task_order
from tpr_rnn.data.systematic import PAIRS, PLANS
from tpr_rnn.report.figures import draw_names, draw_pairs
from tpr_rnn.report.numbers import CONVENTION, Spread, spread, two_places
from tpr_rnn.report.records import Group, NewName, Record, group_records
from tpr_rnn.report.section import Figure, Section, counted, data_note, settings_table
from tpr_rnn.report.table import Cell, Table
from tpr_rnn.times import duration

TITLES = {
    "systematic": "Systematic generalisation: new names",
    "systematic-valid": "Systematic generalisation, rehearsed with other names on validation data",
}


def belongs(record: Record, plan: str) -> bool:
    """Whether a record is of this experiment, or of its rehearsal."""
    return record.task == plan


class _Names:
    """The numbers of one group."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.label = group.label
        new_names = group.first.new_names
        self.tasks = sorted({each.task for each in new_names}, key=task_order)
        self.trained = {
            name: [each.task for each in new_names if each.name == name and each.trained]
            for name in dict.fromkeys(each.name for each in new_names)
        }

    def accuracies(self, name: str, trained: bool, kind: str = "accuracy") -> list[float]:
        """Each run's accuracy for a name, a mean over tasks: those it is trained in, or the others.

        Empty where there are no such tasks.
        """
        of_runs = [
            [
                getattr(each, kind)
                for each in record.new_names
                if each.name == name and each.trained == trained
            ]
            for record in self.group.records
        ]
        return [mean(each) for each in of_runs if each]

    def pair(self, name: str, task: str) -> Spread | None:
        """The accuracy for a name in a task."""
        return spread(self._find(record, name, task).accuracy for record in self.group.records)

    @staticmethod
    def _find(record: Record, name: str, task: str) -> NewName:
        return next(each for each in record.new_names if (each.name, each.task) == (name, task))


def systematic(plan: str, records: Sequence[Record]) -> Section:
    """The section about new names."""
    groups = group_records(records)
    names = [_Names(group) for group in groups]
    parts: list[str | Table | Figure] = [
        _names_table(plan, names),
        Figure(
            f"{plan}-names",
            "Accuracy by new name, mean over tasks: every run (dots) and their mean (bars). Under "
            "each name, the number of tasks that it is trained in.",
            partial(
                draw_names,
                series={
                    each.group.system: {
                        (name, len(tasks)): (
                            each.accuracies(name, True),
                            each.accuracies(name, False),
                        )
                        for name, tasks in each.trained.items()
                    }
                    for each in names
                },
            ),
        ),
    ]
    for number, each in enumerate(names):
        suffix = "" if number == 0 else f"-{number + 1}"
        parts += [
            _pair_table(f"{plan}-pairs{suffix}", each),
            Figure(
                f"{plan}-pairs{suffix}",
                f"{each.group.system}: accuracy in % for each name and task; framed: the name is "
                "new in the task.",
                partial(
                    draw_pairs,
                    means={
                        name: {task: _mean(each.pair(name, task)) for task in each.tasks}
                        for name in each.trained
                    },
                    trained=each.trained,
                ),
            ),
        ]
    source = "validation" if PLANS[plan].held_out else "test"
    parts += [
        settings_table(f"{plan}-settings", groups, "paper-all"),
        "## Stories",
        data_note(groups),
        "## How to read it",
        f"An accuracy is of {PAIRS} stories for each name and task, made from official {source} "
        "stories; one in five asks about the name itself (*asked*), the others have it among the "
        "people of the story. docs/systematic.md says how they are made, and what the paper leaves "
        "open. The paper shows a figure of its accuracies, without numbers.",
        CONVENTION,
    ]
    return Section(plan, TITLES[plan], [_headline(each) for each in names], parts)


def _mean(numbers: Spread | None) -> float | None:
    return None if numbers is None else numbers.mean


def _headline(names: _Names) -> str:
    seconds = max(record.cpu_seconds for record in names.group.records)
    first, *_, last = names.trained
    known, new = names.accuracies(first, True), names.accuracies(last, False)
    less = [one - other for one, other in zip(known, new, strict=True)]
    return (
        f"{names.group.system}, {counted(len(known), 'seed')}: accuracy {_shown(known)} % for "
        f"{first}, trained in all tasks, and {_shown(new)} % for {last} in the tasks that it is "
        f"not trained in ({len(names.tasks) - len(names.trained[last])} of {len(names.tasks)}): "
        f"{_shown(less)} points less; a run took {duration(seconds)} of one core at most"
    )


def _shown(numbers: Sequence[float]) -> str:
    deviation = f" ± {two_places(stdev(numbers))}" if len(numbers) > 1 else ""
    return f"{two_places(mean(numbers))}{deviation}"


def _names_table(plan: str, names: Sequence[_Names]) -> Table:
    rows: list[Sequence[Cell]] = []
    for each in names:
        for name, tasks in each.trained.items():
            cells: list[Cell] = []
            for kind in ("accuracy", "asked_accuracy"):
                for trained in (True, False):
                    found = each.accuracies(name, trained, kind)
                    cells.append(spread(found) if found else "")
            rows.append([each.group.system, name, f"{len(tasks)} of {len(each.tasks)}", *cells])
    kinds = ("trained", "untrained", "asked, trained", "asked, untrained")
    caption = (
        "Accuracy in % by new name, mean over the tasks that it is trained in and over those that "
        "it is not; *asked*: questions about the name itself alone"
    )
    return Table(plan, caption, ("system", "name", "tasks", *kinds), rows)


def _pair_table(name: str, names: _Names) -> Table:
    """The matrix of names and tasks; what is trained and what is not in rows of their own."""
    rows: list[Sequence[Cell]] = []
    for new, trained in names.trained.items():
        for kind, chosen in (("trained", True), ("untrained", False)):
            cells = [
                names.pair(new, task) if (task in trained) is chosen else "" for task in names.tasks
            ]
            if any(cells):
                rows.append([f"{new}, {kind}", *cells])
    headings = ("name", *(f"task {task}" for task in names.tasks))
    return Table(
        name, f"Accuracy in % for each name and task, {names.group.system}", headings, rows
    )
