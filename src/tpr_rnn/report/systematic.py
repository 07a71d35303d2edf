"""The paper's experiment on systematic generalisation: names that are new in a task."""

from collections.abc import Collection, Sequence
from functools import partial
from statistics import mean, stdev

from tpr_rnn.data.babi.systematic import PAIRS, PLANS
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.record import NewName
from tpr_rnn.report.figures import draw_names, draw_pairs
from tpr_rnn.report.numbers import CONVENTION, Spread, spread, two_places
from tpr_rnn.report.records import Group, Record, group_records
from tpr_rnn.report.section import Figure, Section, counted, data_note, settings_table
from tpr_rnn.report.table import Cell, Table
from tpr_rnn.times import duration

TITLES = {
    "systematic": "Systematic generalisation: new names",
    "systematic-valid": "Systematic generalisation, rehearsed with other names on validation data",
}


class _Names:
    """The numbers of one group."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.label = group.label
        self.found = [_new_names(record) for record in group.records]
        per_name = self.found[0]
        self.tasks = list(next(iter(per_name.values())))
        self.trained = {
            name: [task for task, each in tasks.items() if each.trained]
            for name, tasks in per_name.items()
        }

    def accuracies(self, name: str, tasks: Collection[str], kind: str = "accuracy") -> list[float]:
        """Each run's accuracy for a name, a mean over some tasks; none if there are no tasks."""
        if not tasks:
            return []
        return [mean(getattr(found[name][task], kind) for task in tasks) for found in self.found]

    def untrained(self, name: str) -> list[str]:
        """The tasks in which a name is new."""
        return [task for task in self.tasks if task not in self.trained[name]]

    def pair(self, name: str, task: str) -> Spread | None:
        """The accuracy for a name in a task."""
        return spread(found[name][task].accuracy for found in self.found)


def _new_names(record: Record) -> dict[str, dict[str, NewName]]:
    if record.run.new_names is None:
        raise UserError(f"{record.place}: not the record of a run with new names")
    return record.run.new_names.per_name


def systematic(plan: str, records: Sequence[Record]) -> Section:
    """The section about new names."""
    groups = group_records(records)
    names = [_Names(group) for group in groups]
    parts = names_parts(plan, groups)
    rehearsal = PLANS[plan].held_out
    for number, each in enumerate([] if rehearsal else names):  # there, too many to look at
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
    source = "validation" if rehearsal else "test"
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


def names_parts(name: str, groups: Sequence[Group]) -> list[str | Table | Figure]:
    """The table and the figure of accuracies by new name (Figure 5 of the paper)."""
    names = [_Names(group) for group in groups]
    return [
        _names_table(name, names),
        Figure(
            f"{name}-names",
            "Accuracy by new name, mean over tasks: every run (dots) and their mean (diamonds, "
            "hollow in tasks that the name is not trained in). Under each name, the number of "
            "tasks that it is trained in.",
            partial(
                draw_names,
                series={
                    each.group.system: {
                        (new, len(tasks)): (
                            each.accuracies(new, tasks),
                            each.accuracies(new, each.untrained(new)),
                        )
                        for new, tasks in each.trained.items()
                    }
                    for each in names
                },
            ),
        ),
    ]


def _mean(numbers: Spread | None) -> float | None:
    return None if numbers is None else numbers.mean


def _headline(names: _Names) -> str:
    """The name that is trained everywhere against the one that is trained least, on equal tasks."""
    seconds = max(record.run.cpu_seconds for record in names.group.records)
    first, *_, last = names.trained
    tasks = names.untrained(last)
    known, new = names.accuracies(first, tasks), names.accuracies(last, tasks)
    less = [one - other for one, other in zip(known, new, strict=True)]
    return (
        f"{names.group.system}, {counted(len(known), 'seed')}: on the {len(tasks)} tasks of "
        f"{len(names.tasks)} that {last} is not trained in, accuracy {_shown(new)} % for {last} "
        f"and {_shown(known)} % for {first}, who is trained in all: {_shown(less)} points less; "
        f"a run took {duration(seconds)} of one core at most"
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
                for chosen in (tasks, each.untrained(name)):
                    found = each.accuracies(name, chosen, kind)
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
