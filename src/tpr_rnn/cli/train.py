"""`tpr-rnn train`: start or resume a run, show it, and save it on Ctrl-C."""

from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tpr_rnn.cli.interruption import interruptions
from tpr_rnn.cli.options import (
    INTERRUPTED,
    DataOption,
    JsonOption,
    SettingsOption,
    data_directory,
    label,
    parse_settings,
    print_json,
    resume_command,
)
from tpr_rnn.errors import UserError

if TYPE_CHECKING:
    from tpr_rnn.evaluation.record import RunRecord
    from tpr_rnn.training.run_config import RunConfig

TEAM_LOST = 1
"""Exit status when another process that trains the same model has died."""


QUICK = {"minutes": "1", "valid_stories": "20"}
"""What `--quick` sets: a minute, and not much more for the scores at its end."""


def train(
    *,
    task: Annotated[
        str | None,
        Parameter(help="A task's name (of bAbI its number), all, systematic, wide, or all+wide."),
    ] = None,
    data: DataOption = None,
    preset: Annotated[
        str | None,
        Parameter(
            help="Settings to start from: single, all, systematic or bundled (ours; whichever fits "
            "the task if absent), paper-single, paper-all, or another system's: lstm, memn2n, dmn, "
            "entnet."
        ),
    ] = None,
    seed: Annotated[int | None, Parameter(help="Seed of all randomness; else 0.")] = None,
    operations: Annotated[
        str | None, Parameter(help="Memory operations in use, separated by commas.")
    ] = None,
    settings: SettingsOption = (),
    quick: Annotated[
        bool,
        Parameter(
            negative="",
            help="Train for a minute, whatever the preset: the same as "
            f"--set {' --set '.join(f'{name}={value}' for name, value in QUICK.items())}.",
        ),
    ] = False,
    out: Annotated[
        Path | None, Parameter(help="Run directory; else runs/task-T-PRESET-CHANGES-seed-N.")
    ] = None,
    resume: Annotated[
        bool, Parameter(negative="", help="Resume the run in that directory, if there is one.")
    ] = False,
    threads: Annotated[
        int | None, Parameter(help="Number of threads, else 1; results repeat for the same number.")
    ] = None,
    device: Annotated[str | None, Parameter(help="cpu (if absent), cuda, cuda:1, ...")] = None,
    json: JsonOption = False,
) -> int:
    """Train a model on stories and score it on the validation questions.

    Where the training file of a bAbI task is missing, generated stories take its place, and it
    says so.
    """
    from tpr_rnn.cli.training_view import TrainingView
    from tpr_rnn.team import Team, TeamLost, leads, started_by_torchrun
    from tpr_rnn.training.run import Run
    from tpr_rnn.training.run_config import RunConfig
    from tpr_rnn.training.run_directory import RunDirectory

    if not leads():  # the first process has the options, the run and the word
        return _help()
    if task is None:
        given = (
            data,
            preset,
            seed,
            operations,
            settings or None,
            quick or None,
            threads,
            device,
        )
        given_any = any(option is not None for option in given)
        if given_any and resume and out and RunDirectory(out).started:
            raise UserError(
                f"{out}: the run there has its own settings; give --resume and --out alone"
            )
        if given_any or not (resume and out):
            raise UserError(
                "which task? give --task with a name, such as 1, or --task all "
                "(or --resume and --out alone, to resume a run)"
            )
        config, directory = None, out
    else:
        wanted = [f"operations={operations}"] if operations is not None else []
        changes = (QUICK if quick else {}) | parse_settings((*wanted, *settings))
        config = _config(task, data, preset, seed, changes, threads, device)
        name = f"task-{task}-{config.preset}{label(changes)}-seed-{config.seed}"
        directory = out or Path("runs") / name
    if not str(directory).strip(". "):
        raise UserError("--out must name a directory for the run")
    there = RunDirectory(directory)
    view = TrainingView(directory, to_stderr=json)
    if resume and there.started:
        if config is not None:
            _check_same(config, RunConfig.of(directory), directory)
        if there.finished:
            if started_by_torchrun():
                with Team.joined() as team:
                    team.tell(None)
            view.finished_before(there.record())
            return _print(there.record(), json)
        view.preparing()
        run = Run.resume(directory)
    elif config is not None:
        view.preparing()
        run = Run.begin(config, directory)
    else:
        raise UserError(f"{directory}: there is no run to resume; give --task to start one")

    try:
        with interruptions() as received, ExitStack() as stack:
            if started_by_torchrun():
                run.train_with(stack.enter_context(Team.joined()))
            stack.enter_context(view.watching(run))
            for event in stack.enter_context(closing(run.events(stop=lambda: bool(received)))):
                view.show(event)
    except TeamLost as error:
        view.team_lost(str(error), resume_command(directory))
        return TEAM_LOST
    if not run.ended:
        view.interrupted(run, resume_command(directory) + (" --json" if json else ""))
        return INTERRUPTED
    record = run.finish()
    view.finished(run, record)
    return _print(record, json)


def _help() -> int:
    """Train what the first process of the team trains; only that one shows and writes."""
    from tpr_rnn.team import Team, TeamLost
    from tpr_rnn.training.run import help_to_train

    try:
        with interruptions() as received, Team.joined() as team:
            return 0 if help_to_train(team, stop=lambda: bool(received)) else INTERRUPTED
    except TeamLost:
        return TEAM_LOST


def _config(
    task: str,
    data: Path | None,
    preset: str | None,
    seed: int | None,
    changes: Mapping[str, str],
    threads: int | None,
    device: str | None,
) -> "RunConfig":
    """The configuration that the options ask for."""
    from tpr_rnn.training.presets import DEFAULT, preset_name
    from tpr_rnn.training.presets import preset as find_preset
    from tpr_rnn.training.run_config import RunConfig

    directory = data_directory(data)
    preset = preset_name(preset or DEFAULT, task)
    return RunConfig(
        task=task,
        seed=0 if seed is None else seed,
        preset=preset,
        settings=find_preset(preset).with_settings(changes),
        data=None if directory is None else str(directory.resolve()),
        threads=1 if threads is None else threads,
        device=device or "cpu",
    )


def _check_same(wanted: "RunConfig", there: "RunConfig", directory: Path) -> None:
    """Refuse to resume a run with settings other than its own."""
    difference = wanted.difference(there)
    if difference is not None:
        raise UserError(
            f"{directory}: the run there has {difference.name} {difference.there}, not "
            f"{difference.wanted}; resume it with `{resume_command(directory)}`, or choose "
            "another --out"
        )


def _print(record: "RunRecord", json: bool) -> int:
    from tpr_rnn.evaluation.record import as_json

    if json:
        print_json(as_json(record))
    return 0
