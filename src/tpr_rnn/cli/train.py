"""`tpr-rnn train`: begin or resume a run, show it, survive Ctrl-C."""

import os
import shlex
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from tpr_rnn.cli.options import (
    INTERRUPTED,
    DataOption,
    JsonOption,
    command,
    data_directory,
    print_json,
)
from tpr_rnn.errors import UserError

if TYPE_CHECKING:
    from tpr_rnn.training.run import RunConfig


def train(
    *,
    task: Annotated[str | None, Parameter(help="A task's number, 1 to 20, or all.")] = None,
    data: DataOption = None,
    preset: Annotated[
        str, Parameter(help="Settings to start from: default, paper-single, paper-all.")
    ] = "default",
    seed: Annotated[int, Parameter(help="Where all randomness starts.")] = 0,
    operations: Annotated[
        str | None, Parameter(help="Memory operations in use, such as write,backlink.")
    ] = None,
    settings: Annotated[
        tuple[str, ...],
        Parameter(name="--set", help="Change one setting, such as learning_rate=0.002."),
    ] = (),
    out: Annotated[
        Path | None, Parameter(help="Run directory; else runs/task-T-PRESET-seed-N.")
    ] = None,
    resume: Annotated[
        bool, Parameter(negative="", help="Go on with the run in that directory, if there is one.")
    ] = False,
    threads: Annotated[int, Parameter(help="A seed repeats for the same number of threads.")] = 1,
    device: Annotated[str, Parameter(help="cpu, cuda, cuda:1, ...")] = "cpu",
    json: JsonOption = False,
) -> int:
    """Train a model on bAbI stories and score it on the test questions."""
    from tpr_rnn.cli.training_view import TrainingView
    from tpr_rnn.training.run import Run
    from tpr_rnn.training.run_directory import RunDirectory

    config = _config(task, data, preset, seed, operations, settings, threads, device)
    directory = out or Path("runs") / f"task-{task}-{preset}-seed-{seed}"
    there = RunDirectory(directory)
    view = TrainingView(directory, to_stderr=json)
    if not (resume and there.started):
        if config is None:
            raise UserError("which task? give --task with a number from 1 to 20, or --task all")
        run = Run.begin(config, directory)
    else:
        if config is not None:
            _check_same(config.as_json(), there.config(), directory)
        if there.finished:
            view.finished_before(there.result())
            return _print(there.result(), json)
        run = Run.resume(directory)

    with _signals() as received, view.watching(run):
        for event in run.events(stop=lambda: bool(received)):
            view.show(event)
    if not run.ended:
        view.interrupted(run, _resume_command(directory) + (" --json" if json else ""))
        return INTERRUPTED
    result = run.finish()
    view.result(run, result)
    return _print(result, json)


def _config(
    task: str | None,
    data: Path | None,
    preset: str,
    seed: int,
    operations: str | None,
    settings: tuple[str, ...],
    threads: int,
    device: str,
) -> "RunConfig | None":
    """The configuration that the options ask for; None if they name no task."""
    from tpr_rnn.training.recipe import preset as find_preset
    from tpr_rnn.training.run import RunConfig

    if task is None:
        return None
    if seed < 0:
        raise UserError(f"--seed must be 0 or more, not {seed}")
    if not 1 <= threads <= (os.cpu_count() or 1):
        raise UserError(f"--threads must be from 1 to {os.cpu_count()}, not {threads}")
    changes = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise UserError(f"--set takes NAME=VALUE, such as learning_rate=0.002, not '{setting}'")
        changes[name] = value
    if operations is not None:
        changes["operations"] = operations
    directory = data_directory(data)
    return RunConfig(
        task=task,
        seed=seed,
        preset=preset,
        settings=find_preset(preset).with_settings(changes),
        data=None if directory is None else str(directory),
        threads=threads,
        device=device,
    )


def _check_same(wanted: dict[str, Any], there: dict[str, Any], directory: Path) -> None:
    """Refuse to go on with a run under other settings than it was begun with."""
    for key, value in wanted.items():
        if value != there[key]:
            raise UserError(
                f"{directory}: the run there has {key} {there[key]}, not {value}; "
                f"go on with `{_resume_command(directory)}`, or choose another --out"
            )


def _resume_command(directory: Path) -> str:
    return f"{command()} train --out {shlex.quote(str(directory))} --resume"


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Collect the first interruption, so that the state can be saved; a second one kills."""
    received: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def note(number: int, _: FrameType | None) -> None:
        received.append(number)
        for each, handler in before.items():
            signal.signal(each, handler)

    for number in before:
        signal.signal(number, note)
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _print(result: dict[str, Any], json: bool) -> int:
    if json:
        print_json(result)
    return 0
