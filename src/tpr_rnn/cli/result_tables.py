"""What came of a run or of an evaluation, as tables on a terminal."""

from collections.abc import Mapping

from rich.table import Table

from tpr_rnn.evaluation.record import NewName, ProbePart, ProbeScore, TaskError


def without(missing_files: Mapping[str, str]) -> list[str]:
    """A line for all tasks that lack the same files."""
    tasks_without: dict[str, list[str]] = {}
    for task, reason in missing_files.items():
        tasks_without.setdefault(reason, []).append(task)
    return [
        f"without task{'s' if len(tasks) > 1 else ''} {', '.join(tasks)}: {reason}"
        for reason, tasks in tasks_without.items()
    ]


def error_table(split: str, error: float, per_task: Mapping[str, TaskError]) -> Table:
    """Errors by task; the last line is the mean over tasks."""
    table = Table("task", title="error in %")
    table.add_column(split, justify="right")
    for task, each in per_task.items():
        table.add_row(task, f"{each.error:.2f}")
    if len(per_task) > 1:
        table.add_section()
        table.add_row("mean", f"{error:.2f}")
    return table


def new_names_table(per_name: Mapping[str, Mapping[str, NewName]]) -> Table:
    """Accuracy by task and new name; where the name was not trained, in brackets."""
    table = Table("task", title="accuracy in % (in brackets: a new name there)")
    for name in per_name:
        table.add_column(name, justify="right")
    for task in next(iter(per_name.values())):
        of_names = [tasks[task] for tasks in per_name.values()]
        cells = [
            f"{each.accuracy:.1f}" if each.trained else f"({each.accuracy:.1f})"
            for each in of_names
        ]
        table.add_row(task, *cells)
    return table


def probe_table(name: str, score: ProbeScore) -> Table:
    """Errors by part; below it the error of all, and what else was measured."""
    rows: dict[str, ProbePart | ProbeScore] = {**score.per_part, "all": score}
    plain = score.plain_error is not None
    table = Table(name, title="error in %")
    for heading in ("as they are", "changed") if plain else ("error",):
        table.add_column(heading, justify="right")
    for part, each in rows.items():
        if each is score:
            table.add_section()
        cells = [each.plain_error, each.error] if plain else [each.error]
        table.add_row(part, *("" if error is None else f"{error:.2f}" for error in cells))
    for measure, value in score.measures.items():
        table.add_row(measure.replace("_", " "), f"{value:.2f}")
    return table
