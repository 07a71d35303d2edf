"""Sweeps on real Ray clusters: nodes are lost, and no run is."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager, nullcontext, suppress

import pytest
from msgspec import structs

from experiments.tiny import jobs, write_data
from tpr_rnn.errors import UserError
from tpr_rnn.experiments import finished, ray_tasks
from tpr_rnn.experiments.last_step import gather_records, score_tests
from tpr_rnn.experiments.launcher import launch
from tpr_rnn.experiments.launchers import find_launcher
from tpr_rnn.experiments.local import LocalProcesses
from tpr_rnn.experiments.worker import Began, Finished, Interrupted, Progressed, Warned
from tpr_rnn.training.run import Run
from tpr_rnn.training.run_directory import RunDirectory

ray = pytest.importorskip("ray", reason="Ray is not installed: `make test-ray` installs it")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # Ray's own warnings

LONG = {"epochs": "150"}


@pytest.fixture
def data(tmp_path, monkeypatch):
    # Other work on the machine must neither starve them nor make Ray believe that they are dead.
    monkeypatch.setenv("RAY_worker_niceness", "0")
    monkeypatch.setenv("RAY_health_check_timeout_ms", "60000")
    finished._checksum.cache_clear()
    return write_data(tmp_path / "data", 1, 4)


@contextmanager
def three_nodes(monkeypatch):
    """A cluster of three nodes with a core each; the launcher is on the first."""
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    one = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}
    cluster = Cluster()
    try:
        for attempt in range(10):  # a busy machine may take longer than Ray's 30 s for a node
            with nullcontext() if attempt == 9 else suppress(Exception):
                while len(cluster.list_all_nodes()) < 3:
                    cluster.add_node(**one)
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def watch_nodes(monkeypatch) -> dict:
    """The node of each run that has begun."""
    nodes, hear = {}, ray_tasks._Task.hear

    def hear_and_note(task, message):
        event = hear(task, message)
        nodes[task.job.directory] = task.node
        return event

    monkeypatch.setattr(ray_tasks._Task, "hear", hear_and_note)
    return nodes


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "not-shared"])
def test_the_jobs_of_a_lost_node_go_on_elsewhere(data, tmp_path, monkeypatch, shared) -> None:
    if not shared:  # no node finds the mark beside the runs
        monkeypatch.setattr(ray_tasks, "_marked", lambda jobs: nullcontext(tmp_path / "nowhere"))
    grid = jobs(data, tmp_path / "out", 1, 4, seeds=2, **LONG)
    for job in grid[::2]:  # these have a checkpoint
        run = Run.begin(job.config, job.directory)
        list(run.events(stop=lambda run=run: run.trainer.progress.step >= 20))
    events = []
    with three_nodes(monkeypatch) as cluster:
        launcher = find_launcher(f"ray:{cluster.address}", workers=None, threads=1)
        assert "3 at a time, one core each, on the Ray cluster at" in launcher.describe()
        nodes = watch_nodes(monkeypatch)
        lost = None
        for event in launch(grid, launcher):
            events.append(event)
            if lost is None and isinstance(event, Progressed):
                node = nodes[event.job.directory]
                for each in cluster.list_all_nodes():
                    if each != cluster.head_node and each.node_id.startswith(node):
                        lost = event.job
                        cluster.remove_node(each, allow_graceful=False)
    warned, *others = [event for event in events if isinstance(event, Warned)]
    assert warned.job == lost
    for other in others:  # the run itself says that it had no checkpoint yet
        assert other.job == lost
        assert "neither its record nor a checkpoint" in other.problem
    told = "going on elsewhere from" if lost in grid[::2] else "beginning anew elsewhere"
    assert f"was lost; {told}" in warned.problem
    assert shared != ("that node did not share the run directory" in warned.problem)
    assert [event.job for event in events if isinstance(event, Began)].count(lost) == 2
    assert len([event for event in events if isinstance(event, Finished)]) == len(grid)

    alone = jobs(data, tmp_path / "alone", 1, 4, seeds=2, **LONG)
    list(launch(alone, LocalProcesses(1)))
    for job, other in zip(grid, alone, strict=True):
        there, same = RunDirectory(job.directory), RunDirectory(other.directory)
        assert there.model.read_bytes() == same.model.read_bytes()
        took = {name: getattr(same.record(), name) for name in ("seconds", "cpu_seconds")}
        assert structs.replace(there.record(), **took) == same.record()
        curve = (job.directory / "metrics.jsonl").read_text().splitlines()
        assert len(curve) == int(LONG["epochs"])
    list(score_tests(grid, "a sweep"))
    gather_records(grid, tmp_path / "records.jsonl")
    assert len((tmp_path / "records.jsonl").read_text().splitlines()) == len(grid)


def test_a_sweep_on_a_cluster_of_its_own_is_stopped_and_goes_on(data, tmp_path) -> None:
    grid = jobs(data, tmp_path, 1, seeds=2, **LONG)
    told = []
    events = launch(grid, find_launcher("ray", workers=1, threads=1), stop=lambda: len(told) > 0)
    for event in events:
        told += [event] if isinstance(event, Progressed) else []
    assert event == Interrupted(grid[0])
    assert RunDirectory(grid[0].directory).checkpoint.exists()
    assert not RunDirectory(grid[1].directory).started
    ends = list(launch(grid, find_launcher("ray", workers=2, threads=1)))
    assert sum(isinstance(event, Finished) for event in ends) == 2
    assert not list(tmp_path.rglob(".shared-*"))


def test_a_process_that_dies_is_tried_once_more(data, tmp_path) -> None:
    (job,) = jobs(data, tmp_path, 1, epochs="100000")
    events = launch([job], find_launcher("ray", workers=1, threads=1))
    problems = []
    for event in events:
        if isinstance(event, Warned):
            problems.append(event.problem)
        if isinstance(event, Progressed):
            os.kill(holder(RunDirectory(job.directory).path / ".lock"), signal.SIGKILL)
    assert len(problems) == 1
    assert problems[0].startswith("the process of the run died")
    assert event.problem.endswith("for the second time")
    assert (job.directory / "failure.json").exists()


def holder(path) -> int:
    """The process that has a file open."""
    for place in os.scandir("/proc"):
        if place.name.isdigit() and int(place.name) != os.getpid():
            with suppress(PermissionError, FileNotFoundError):  # of others, or gone meanwhile
                for file in os.scandir(f"/proc/{place.name}/fd"):
                    if os.readlink(file.path) == str(path):
                        return int(place.name)
    raise AssertionError(path)


def test_no_cluster_is_joined_but_the_one_that_was_told(data, tmp_path, monkeypatch) -> None:
    with three_nodes(monkeypatch) as cluster:
        monkeypatch.setenv("RAY_ADDRESS", cluster.address)
        assert "of its own (one node)" in find_launcher("ray", workers=1, threads=1).describe()
    monkeypatch.delenv("RAY_ADDRESS")
    with pytest.raises(UserError, match="no connection to the Ray cluster at"):
        find_launcher("ray:127.0.0.1:9", workers=1, threads=1)
    done = subprocess.run(
        [sys.executable, "-m", "tpr_rnn", "sweep", "all-tasks", "--on", "ray:somewhere"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "takes the HOST:PORT of a cluster's head" in done.stderr
