"""A disk that is full or read-only, two processes on one run, and damaged files."""

import dataclasses
import os
import random
import resource
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import torch

from benchmarks.torture_runs import KINDS, Result, Undisturbed, fork, train, wait_for
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.record import read_record
from tpr_rnn.models.reader import Reader
from tpr_rnn.training.run import Run
from tpr_rnn.training.run_config import RunConfig
from tpr_rnn.training.run_directory import RunDirectory
from training.damage import damaged

LIMITS = 20
"""Trials with a limit on the size of a file."""
DISKS = 8
"""Trials with a disk of its own, which is too small."""
PAIRS = 10


def full_disk(runs: Undisturbed, chance: random.Random) -> Iterator[Result]:
    """A write that fails ends the run; with room again, it goes on."""
    limited = Result("a file that may not grow", remark="RLIMIT_FSIZE at random")
    for number in range(LIMITS):
        kind = list(KINDS)[number % len(KINDS)]
        directory = runs.fresh(kind)
        largest = runs.whole(kind)[0] / "model.safetensors"
        limit = int(chance.uniform(0.05, 4.0) * largest.stat().st_size)
        wait_for(fork(partial(_train_with, limit, directory)))
        limited.judge(_goes_on(runs, kind, directory))
    yield limited
    full = Result("a full disk", remark="a tmpfs of random size, then a larger one")
    if os.geteuid():
        full.remark = "not tried: to mount a disk needs root"
        yield full
        return
    for number in range(DISKS):
        kind = list(KINDS)[number % len(KINDS)]
        largest = runs.whole(kind)[0] / "model.safetensors"
        kilobytes = int(chance.uniform(1.2, 6.0) * largest.stat().st_size) // 1024
        with _disk(runs.place / f"disk-{number}", f"size={kilobytes}k") as disk:
            directory = runs.fresh(kind, disk)
            status = wait_for(fork(partial(train, directory)))
            _mount("-o", "remount,size=1g", str(disk))
            problem = "it ended with a traceback" if status == 1 else None
            full.judge(problem or _goes_on(runs, kind, directory))
    yield full


def read_only(runs: Undisturbed) -> Result:
    """A run in a directory that cannot be written says so, and is left as it was."""
    result = Result("a read-only directory")
    if os.geteuid():
        result.remark = "not tried: to mount a disk needs root"
        return result
    for number, kind in enumerate(KINDS):
        with _disk(runs.place / f"read-only-{number}", "size=1g") as disk:
            directory = runs.fresh(kind, disk)
            if number % 2:  # one that was begun
                child = fork(partial(train, directory))
                time.sleep(runs.whole(kind)[1] / 2)
                os.kill(child, 9)
                wait_for(child)
            before = _content(directory)
            _mount("-o", "remount,ro", str(disk))
            status = wait_for(fork(partial(train, directory)))
            problem = None if status in (0, 2) else f"it ended with {status}"
            if _content(directory) != before:
                problem = "something was written"
            _mount("-o", "remount,rw", str(disk))
            result.judge(problem or _goes_on(runs, kind, directory))
    return result


def two_at_once(runs: Undisturbed, chance: random.Random) -> Result:
    """Of two processes on one run one is refused, and the other comes to the same end."""
    result = Result("two processes on one run")
    refused = 0
    for number in range(PAIRS):
        kind = list(KINDS)[number % len(KINDS)]
        directory = runs.fresh(kind)
        first = fork(partial(train, directory))
        time.sleep(chance.uniform(0.0, 1.1 * runs.whole(kind)[1]))
        second = fork(partial(train, directory))
        ends = sorted((wait_for(first), wait_for(second)))
        refused += 2 in ends
        problem = None if ends in ([0, 0], [0, 2]) else f"they ended with {ends}"
        result.judge(problem or runs.compare(kind, directory))
    result.remark = f"{refused} times the second one was refused; else the first was done"
    return result


def damage(runs: Undisturbed, files: int, seed: int) -> Iterator[Result]:
    """Damaged files are noticed; what is read all the same says what it said before."""
    finished, _ = runs.whole("one task")
    model = torch.cat(
        [each.flatten() for each in Reader.load(finished).model.state_dict().values()]
    )
    record = read_record(finished / "result.json")
    begun = runs.fresh("one task")
    for _ in range(2):  # so that there is a checkpoint before the last one
        run = Run.resume(begun)
        step = run.trainer.progress.step + 40
        for _ in run.events(stop=lambda run=run, step=step: run.trainer.progress.step >= step):
            pass
    newest = _state(begun)
    checkpoint = RunDirectory(begun).checkpoint
    os.replace(checkpoint, begun / "newest")
    states = (newest, _state(begun))  # the one before it serves where the newest is damaged
    assert states[0] != states[1]
    os.replace(begun / "newest", checkpoint)
    config = RunConfig.of(begun)

    def same_model() -> bool:
        tensors = Reader.load(finished).model.state_dict().values()
        return torch.equal(torch.cat([each.flatten() for each in tensors]), model)

    story = runs.data / "qa1_train.txt"
    checks: list[tuple[Path, Callable[[], bool]]] = [
        (finished / "model.safetensors", same_model),
        (finished / "result.json", lambda: read_record(finished / "result.json") == record),
        (checkpoint, lambda: _state(begun) in states),
        (begun / "config.json", lambda: _same_config(Run.resume(begun).config, config)),
        (story, lambda: Run.resume(begun).corpus.sha256 == run.corpus.sha256),
    ]
    for path, is_same in checks:
        yield _damage(path, is_same, files // len(checks), seed)


def _damage(path: Path, is_same: Callable[[], bool], files: int, seed: int) -> Result:
    result = Result(f"a damaged {path.name}")
    content, refused = path.read_bytes(), 0
    for what, broken in damaged(content, files, seed):
        path.write_bytes(broken)
        problem = None
        try:
            if not is_same():
                problem = f"{what}: read as if it were whole"
        except UserError:
            refused += 1
        except Exception as error:
            problem = f"{what}: {type(error).__name__}: {error}"
        result.judge(problem)
    path.write_bytes(content)
    result.remark = f"{refused} refused; the others read as they were"
    return result


def _state(directory: Path) -> tuple[int, bytes]:
    """The step and the weights that a run goes on from."""
    trainer = Run.resume(directory).trainer
    return trainer.progress.step, trainer.optimizer.theta.numpy().tobytes()


def _same_config(one: RunConfig, other: RunConfig) -> bool:
    return dataclasses.astuple(one) == dataclasses.astuple(other)


def _train_with(limit: int, directory: Path) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    train(directory)


def _goes_on(runs: Undisturbed, kind: str, directory: Path) -> str | None:
    status = wait_for(fork(partial(train, directory)))
    return f"it did not go on ({status})" if status else runs.compare(kind, directory)


def _content(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


@contextmanager
def _disk(place: Path, options: str) -> Iterator[Path]:
    place.mkdir()
    _mount("-t", "tmpfs", "-o", options, "tmpfs", str(place))
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)
