"""Sweeps on a real SLURM: their time is over, and no run is lost."""

import os
import shutil
import signal
import subprocess

import pytest
import torch

from experiments import slurm_node
from experiments.tiny import jobs, write_data
from tpr_rnn.errors import UserError
from tpr_rnn.experiments import finished
from tpr_rnn.experiments.launcher import launch
from tpr_rnn.experiments.launchers import find_launcher
from tpr_rnn.experiments.slurm_arrays import Limits
from tpr_rnn.experiments.worker import (
    Began,
    Event,
    Failed,
    Finished,
    Interrupted,
    Progressed,
    Warned,
)
from tpr_rnn.training.run import Run
from tpr_rnn.training.run_directory import RunDirectory

pytest.importorskip("submitit", reason="submitit is not installed: `make test-slurm` installs it")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # submitit's own
    pytest.mark.skipif(slurm_node.missing() is not None, reason=str(slurm_node.missing())),
]

TWO_MINUTES = Limits(partition="short", minutes=2, memory="600M")


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    with slurm_node.slurm_of_one_node(tmp_path_factory.mktemp("slurm") / "node") as config:
        yield config


@pytest.fixture
def data(tmp_path, slurm, monkeypatch):
    monkeypatch.setenv("SLURM_CONF", str(slurm))
    monkeypatch.setenv("PATH", slurm_node.PATH)
    finished._checksum.cache_clear()
    return write_data(tmp_path / "data", 1, 4)


def test_runs_finish_and_one_whose_time_is_over_is_queued_again_and_goes_on(data, tmp_path) -> None:
    (long,) = jobs(data, tmp_path / "out", 1, epochs="10000000")
    short = jobs(data, tmp_path / "out", 4, seeds=2)
    launcher = find_launcher("slurm", workers=2, threads=1, limits=TWO_MINUTES)
    assert launcher.describe().startswith("up to 2 at a time, one core each, on SLURM, partition")
    of_long: list[Event] = []
    ends = []

    def has_gone_on() -> bool:
        kinds = [type(event) for event in of_long]
        return Warned in kinds and Progressed in kinds[kinds.index(Warned) :]

    for event in launch([long, *short], launcher, stop=has_gone_on):
        if event.job == long:
            of_long.append(event)
        elif isinstance(event, Finished):
            ends.append(event.job)
    assert sorted(job.name for job in ends) == sorted(job.name for job in short)
    assert of_long[-1] == Interrupted(long)
    (warned,) = [event for event in of_long if isinstance(event, Warned)]
    assert "its time on SLURM was over; queued again" in warned.problem
    assert of_long.count(Began(long)) == 2
    assert not list((tmp_path / "out").glob("slurm-*"))

    resumed = Run.resume(long.directory).trainer  # where it stopped
    alone = Run.begin(long.config, tmp_path / "alone")
    for _ in alone.events(stop=lambda: alone.trainer.progress.step == resumed.progress.step):
        pass
    tensors = alone.trainer.tensors()
    for name, tensor in resumed.tensors().items():
        assert torch.equal(tensor, tensors[name]), name


def test_a_sweep_is_stopped_goes_on_and_tells_of_failures(data, tmp_path) -> None:
    grid = jobs(data, tmp_path / "out", 1, seeds=3, epochs="100000")
    told: list[Progressed] = []
    launcher = find_launcher("slurm", workers=2, threads=1, limits=TWO_MINUTES)
    events = launch(grid, launcher, stop=lambda: len(told) > 0)
    for event in events:
        told += [event] if isinstance(event, Progressed) else []
    assert event == Interrupted(event.job)
    assert not squeue()
    begun = [RunDirectory(job.directory) for job in grid if RunDirectory(job.directory).started]
    assert 1 <= len(begun) <= 2
    assert all(there.checkpoint.exists() for there in begun)

    shutil.rmtree(tmp_path / "out")
    (data / "qa4_train.txt").write_text("nonsense\n")
    (failing,) = jobs(data, tmp_path / "out", 4)
    *_, last = launch([failing], launcher)
    assert isinstance(last, Failed)
    assert "qa4_train.txt:1: a line starts with its number" in last.problem


def test_a_process_that_dies_is_tried_once_more(data, tmp_path) -> None:
    (job,) = jobs(data, tmp_path, 1, epochs="1000000")
    problems = []
    for event in launch([job], find_launcher("slurm", workers=1, threads=1, limits=TWO_MINUTES)):
        if isinstance(event, Warned):
            problems.append(event.problem)
        if isinstance(event, Progressed) and RunDirectory(job.directory).checkpoint.exists():
            kill_holder(job.directory / ".lock")
    assert len(problems) == 1
    assert "died, or SLURM cancelled it; trying once more" in problems[0]
    assert event.problem.endswith("for the second time")


def kill_holder(path) -> None:
    """Kill the process that has a file open."""
    for place in os.scandir("/proc"):
        if place.name.isdigit() and int(place.name) != os.getpid():
            try:
                files = [os.readlink(file.path) for file in os.scandir(f"/proc/{place.name}/fd")]
            except OSError:
                continue
            if str(path) in files:
                os.kill(int(place.name), signal.SIGKILL)


def squeue() -> str:
    return subprocess.run(["squeue", "--noheader"], capture_output=True, text=True).stdout


def test_what_slurm_refuses_is_told(data, tmp_path) -> None:
    limits = Limits(partition="nowhere")
    grid = jobs(data, tmp_path, 1, seeds=2)
    with pytest.raises(UserError, match=r"SLURM took no jobs .*nvalid partition"):
        list(launch(grid, find_launcher("slurm", workers=1, threads=1, limits=limits)))
