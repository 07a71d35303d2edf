"""SIGKILL at any moment: of workers, of launchers, of ranks."""

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from benchmarks.torture_runs import (
    KINDS,
    OFTEN,
    Result,
    Undisturbed,
    difference,
    fork,
    lost_seconds,
    train,
    wait_for,
)
from tpr_rnn.evaluation.record import read_record
from tpr_rnn.training.run import CHECKPOINT_SECONDS
from tpr_rnn.training.run_directory import RunDirectory


def kill_workers(runs: Undisturbed, kind: str, kills: int, chance: random.Random) -> Result:
    """Kill the process of a run, until it was killed so many times."""
    result = Result(f"SIGKILL of a run: {kind}")
    _, seconds = runs.whole(kind)
    directory, since, worst = runs.fresh(kind), 0, 0.0
    while result.tried + since < kills or since:
        child = fork(partial(train, directory))
        if result.tried + since < kills:
            time.sleep(chance.uniform(0.0, seconds / 2))
            os.kill(child, signal.SIGKILL)
        status = wait_for(child)
        if status == -signal.SIGKILL:
            since += 1
            worst = max(worst, lost_seconds(directory))
            continue
        problem = runs.compare(kind, directory) if status == 0 else f"it ended with {status}"
        result.judge(problem, since)
        directory, since = runs.fresh(kind), 0
    result.remark = f"a checkpoint every {OFTEN} s; at most {worst:.2f} s lost"
    return result


def kill_launchers(runs: Undisturbed, kills: int, chance: random.Random, *, whom: str) -> Result:
    """Kill a sweep of four runs, or one of its two workers, and start it again."""
    result = Result(f"SIGKILL of a sweep's {whom}")
    out = runs.place / f"sweep-{whom}"
    task, _, changes = KINDS["one task"]
    arguments = ["sweep", "single-task", "--tasks", f"{task},4", "--seeds", "2", "--workers", "2"]
    arguments += ["--data", str(runs.data)]
    arguments += [f"--set={name}={value}" for name, value in changes.items()]
    begun = time.monotonic()
    _run([*arguments, "--out", str(out / "whole")]).wait()
    seconds, worst = time.monotonic() - begun, 0.0
    number = since = 0
    while result.tried + since < kills or since:
        place = out / str(number)
        process = _run([*arguments, "--out", str(place)])
        if result.tried + since < kills:
            time.sleep(chance.uniform(0.0, 0.8 * seconds))
            found = [process.pid] if whom == "launcher" else _workers(process.pid)
            if found and process.poll() is None:
                os.kill(chance.choice(found), signal.SIGKILL)
                since += 1
        process.wait()
        places = sorted((out / "whole").rglob("config.json"))
        there = [place / path.parent.relative_to(out / "whole") for path in places]
        if not all(RunDirectory(each).finished for each in there):
            begun = [each for each in there if each.exists() and not RunDirectory(each).finished]
            worst = max([worst, *map(lost_seconds, begun)])
            continue
        problems = [difference(path.parent, each) for path, each in zip(places, there, strict=True)]
        result.judge(next((each for each in problems if each), None), since)
        number, since = number + 1, 0
    result.remark = f"a checkpoint every {CHECKPOINT_SECONDS:.0f} s; at most {worst:.1f} s lost"
    return result


def kill_ranks(runs: Undisturbed, kills: int, chance: random.Random) -> Result:
    """Kill one of two processes that train one model, and start both again."""
    result = Result("SIGKILL of one of two ranks: all tasks")
    task, name, changes = KINDS["all tasks"]
    arguments = ["train", "--task", task, "--preset", name, "--data", str(runs.data), "--resume"]
    arguments += [f"--set={name}={value}" for name, value in changes.items()]
    whole = runs.place / "ranks" / "whole"
    begun = time.monotonic()
    _run_ranks([*arguments, "--out", str(whole)]).wait()
    seconds, worst = time.monotonic() - begun, 0.0
    training = read_record(RunDirectory(whole).path / "result.json").seconds
    number = since = at_work = 0
    while result.tried + since < kills or since:
        directory = whole.with_name(str(number))
        process = _run_ranks([*arguments, "--out", str(directory)])
        if result.tried + since < kills:
            # To start takes longer than to train: every second kill waits for a checkpoint.
            if chance.random() < 0.5:
                time.sleep(chance.uniform(0.0, seconds - training))
            elif _saved_anew(RunDirectory(directory).checkpoint, process):
                time.sleep(chance.uniform(0.0, training / 2))
                at_work += process.poll() is None
            ranks = _children(process.pid)
            if ranks and process.poll() is None:
                os.kill(chance.choice(ranks), signal.SIGKILL)
                since += 1
        process.wait()
        if not RunDirectory(directory).finished:
            worst = max(worst, lost_seconds(directory) if directory.exists() else 0.0)
            continue
        result.judge(difference(whole, directory), since)
        number, since = number + 1, 0
    result.remark = f"{at_work} at work; saved every {OFTEN} s; "
    result.remark += f"at most {worst:.2f} s lost"
    return result


def _saved_anew(checkpoint: Path, process: subprocess.Popen[bytes]) -> bool:
    """Wait for the next checkpoint; False if the process ends before."""
    before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
    while process.poll() is None:
        with suppress(FileNotFoundError):  # it is being replaced
            if checkpoint.stat().st_mtime_ns > before:
                return True
        time.sleep(0.01)
    return False


def _run(arguments: Sequence[str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tpr_rnn", *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


_OFTEN_SAVED = f"""
import sys
from tpr_rnn.cli import main
from tpr_rnn.training import run

run.CHECKPOINT_SECONDS = {OFTEN}
main(sys.argv[1:])
"""


def _run_ranks(arguments: Sequence[str]) -> subprocess.Popen[bytes]:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    command += ["--master-port", str(port), "--no-python", sys.executable, "-c", _OFTEN_SAVED]
    return subprocess.Popen(
        [*command, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def _children(parent: int) -> list[int]:
    """The processes that a process has started, by Linux's /proc."""
    tasks = Path(f"/proc/{parent}/task").glob("*/children")
    try:
        return [int(number) for path in tasks for number in path.read_text().split()]
    except OSError:
        return []


def _workers(launcher: int) -> list[int]:
    """The workers of a sweep, not multiprocessing's resource tracker."""
    found = []
    for child in _children(launcher):
        try:
            command = Path(f"/proc/{child}/cmdline").read_bytes()
        except OSError:
            continue
        if b"spawn_main" in command:
            found.append(child)
    return found
