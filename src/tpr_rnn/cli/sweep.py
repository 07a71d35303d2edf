"""`tpr-rnn sweep`: an experiment, as a grid of runs."""

import shlex
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from tpr_rnn.cli.interruption import interruptions
from tpr_rnn.cli.options import (
    INTERRUPTED,
    DataOption,
    JsonOption,
    SettingsOption,
    command,
    data_directory,
    label,
    parse_settings,
    print_json,
    resume_command,
)
from tpr_rnn.errors import UserError, quoted

if TYPE_CHECKING:
    from tpr_rnn.experiments.grid import Job

SOME_FAILED = 1
"""Exit status when some runs have no result."""


def sweep(
    name: Annotated[
        str,
        Parameter(
            help="single-task, ablation, all-tasks, recipe-ablation, random-names, systematic, "
            "systematic-valid, word-level, compare or layer."
        ),
    ],
    *,
    seeds: Annotated[int, Parameter(help="Runs of each kind, with seeds of their own.")] = 5,
    first_seed: Annotated[int, Parameter(help="The first run's seed; the next has the next.")] = 0,
    tasks: Annotated[
        str | None, Parameter(help="Only these, such as 1,19; for a model for each task.")
    ] = None,
    data: DataOption = None,
    preset: Annotated[
        str | None, Parameter(help="Settings to start from; if absent, ours.")
    ] = None,
    settings: SettingsOption = (),
    out: Annotated[
        Path | None, Parameter(help="Directory for the runs; else runs/NAME-CHANGES.")
    ] = None,
    records: Annotated[
        Path | None,
        Parameter(
            help="File of records (.jsonl) that outlives the runs: runs with a record there are "
            "finished, others add theirs, test errors included, as soon as they finish."
        ),
    ] = None,
    on: Annotated[
        str,
        Parameter(
            help="Where they run: local (processes of this machine), ray (a Ray cluster of its "
            "own), ray:HOST:PORT (one that is there), or slurm."
        ),
    ] = "local",
    partition: Annotated[str | None, Parameter(help="SLURM's partition; else its default.")] = None,
    time: Annotated[
        int | None,
        Parameter(
            help="Minutes that SLURM is asked for, else 60; a run that takes longer is queued "
            "again, and goes on."
        ),
    ] = None,
    memory: Annotated[
        str | None, Parameter(help="Memory that SLURM is asked for, such as 4G.")
    ] = None,
    workers: Annotated[
        int | None, Parameter(help="Runs at a time; else as many as there are cores for.")
    ] = None,
    threads: Annotated[int, Parameter(help="Threads of a run.")] = 1,
    device: Annotated[str, Parameter(help="cpu, cuda, cuda:1, ...")] = "cpu",
    plan: Annotated[
        bool,
        Parameter(
            negative="",
            help="Run nothing: write the configuration of every run, and print a command for each.",
        ),
    ] = False,
    json: JsonOption = False,
) -> int:
    """Train every model of an experiment; finished runs are skipped, interrupted ones resumed.

    When all runs are finished, wherever that was, their test questions are scored, and their
    records gathered in one file. With --records a sweep can take several sittings, on machines
    whose runs do not stay: the file is all that must.
    Where the training file of a bAbI task is missing, generated stories take its place, and it
    says so.
    """
    from tpr_rnn.cli.sweep_view import SweepView
    from tpr_rnn.evaluation.record import as_json
    from tpr_rnn.experiments.catalogue import find_experiment
    from tpr_rnn.experiments.grid import Request
    from tpr_rnn.experiments.last_step import gather_records, keep_record, score_tests
    from tpr_rnn.experiments.launcher import launch
    from tpr_rnn.experiments.launchers import find_launcher
    from tpr_rnn.experiments.slurm_arrays import MINUTES, Limits
    from tpr_rnn.experiments.worker import Finished
    from tpr_rnn.training.presets import DEFAULT
    from tpr_rnn.training.run_directory import RunDirectory

    experiment = find_experiment(name)
    if seeds < 1:
        raise UserError(f"--seeds must be 1 or more, not {seeds}")
    chosen: dict[str, Any] = {} if tasks is None else {"tasks": _parse_tasks(tasks, name)}
    directory = data_directory(data)
    changes = parse_settings(settings)
    out = out or Path("runs") / f"{name}{label(changes)}"
    request = Request(
        out=out,
        seeds=range(first_seed, first_seed + seeds),
        data=directory,
        preset=preset or DEFAULT,
        settings=changes,
        threads=threads,
        device=device,
        **chosen,
    )
    jobs = experiment(request)
    if plan:
        return _plan(name, jobs, records, json)
    limits = None
    if (partition, time, memory) != (None, None, None):
        minutes = MINUTES if time is None else time
        limits = Limits(partition=partition, minutes=minutes, memory=memory)
    launcher = find_launcher(on, workers=workers, threads=threads, limits=limits)
    view = SweepView(name, jobs, launcher, to_stderr=json)
    with (
        interruptions() as received,
        closing(launch(jobs, launcher, lambda: bool(received), records)) as events,
        view.watching(),
    ):
        for event in events:
            view.show(event)
            here = isinstance(event, Finished) and RunDirectory(event.job.directory).finished
            if records is not None and here:
                view.show(keep_record(event.job, records, f"tpr-rnn sweep {name}"))
        finished = records is None and not (view.left or view.failed)
        if finished:
            view.testing()
            for tested in score_tests(jobs, f"tpr-rnn sweep {name}", stop=lambda: bool(received)):
                view.show(tested)
            finished = not received
    gathered = records or out / f"{name}.jsonl"
    if finished:
        gather_records(jobs, gathered)
    where = shlex.quote(str(out))
    if view.left or received:
        options = [f"--seeds {seeds}", f"--first-seed {first_seed}", f"--on {shlex.quote(on)}"]
        options += [] if workers is None else [f"--workers {workers}"]
        options += [] if threads == 1 else [f"--threads {threads}"]
        options += [] if device == "cpu" else [f"--device {device}"]
        options += [] if partition is None else [f"--partition {shlex.quote(partition)}"]
        options += [] if time is None else [f"--time {time}"]
        options += [] if memory is None else [f"--memory {shlex.quote(memory)}"]
        options += [] if tasks is None else [f"--tasks {shlex.quote(tasks)}"]
        options += [] if directory is None else [f"--data {shlex.quote(str(directory))}"]
        options += [] if preset is None else [f"--preset {preset}"]
        options += [f"--set {shlex.quote(setting)}" for setting in settings]
        options += [] if records is None else [f"--records {shlex.quote(str(records))}"]
        options += ["--json"] if json else []
        view.interrupted(f"{command()} sweep {name} {' '.join(options)} --out {where}")
        return INTERRUPTED
    view.done(f"{command()} report {shlex.quote(str(gathered))}")
    if json:
        places = [job.directory for job in jobs]
        there = [as_json(view.records[place]) for place in places if place in view.records]
        failed = [
            {"directory": str(place), "problem": view.failed[place].problem}
            for place in places
            if place in view.failed
        ]
        print_json({"sweep": name, "records": there, "failed": failed})
    return SOME_FAILED if view.failed else 0


def _parse_tasks(text: str, name: str) -> tuple[str, ...]:
    from tpr_rnn.data.registry import is_one

    if name not in ("single-task", "ablation", "word-level", "compare", "layer"):
        raise UserError(f"{name} is one model of several tasks; leave out --tasks")
    parts = [part.strip() for part in text.split(",")]
    if len(set(parts)) < len(parts) or not all(name == "layer" or is_one(part) for part in parts):
        raise UserError(f"--tasks takes different tasks, such as 1,19, not {quoted(text)}")
    return tuple(parts)


def _plan(name: str, jobs: "Sequence[Job]", records: Path | None, json: bool) -> int:
    """Write the plan; print the commands, or one document of them."""
    from tpr_rnn.cli.console import Console
    from tpr_rnn.experiments.plan import write_plan

    left = write_plan(jobs, records)
    commands = [resume_command(job.directory) for job in left]
    Console(to_stderr=True).print(
        f"{name}: {len(jobs)} runs, {len(jobs) - len(left)} of them finished. The commands of the "
        "others, for any machine that sees their directories and data, in any order; after them "
        "the same sweep without --plan scores the test questions and gathers the records:"
    )
    if json:
        places = [str(job.directory) for job in left]
        both = zip(places, commands, strict=True)
        print_json(
            {"sweep": name, "runs": [{"directory": at, "command": line} for at, line in both]}
        )
    else:
        print("\n".join(commands))
    return 0
