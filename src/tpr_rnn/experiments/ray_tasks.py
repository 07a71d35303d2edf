"""Jobs as tasks on a Ray cluster: one that is there, or one of this machine's own."""

import logging
import os
import re
import socket
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, no_type_check
from uuid import uuid4

from tpr_rnn.errors import UserError, missing_extra, quoted
from tpr_rnn.experiments.grid import Job
from tpr_rnn.experiments.launcher import Launcher, Stop
from tpr_rnn.experiments.worker import (
    Began,
    Event,
    Failed,
    Finished,
    Interrupted,
    Warned,
    await_lock,
    record_failure,
    run_job,
)
from tpr_rnn.files import write_atomically
from tpr_rnn.training.run_directory import RunDirectory

_ATTENTION_SECONDS = 0.2
"""How often the launcher checks whether it should stop."""
_STOP_SECONDS = 1.0
"""How often a task asks whether it should stop."""
_NEWS_SECONDS = 30.0
"""How long the news that a node is lost may take."""
_CONNECT_SECONDS = 10.0
"""How long the head of a cluster may take to answer."""
_STORE_BYTES = 100 * 2**20
"""Memory for objects of a cluster of this machine's own; what tasks send is small."""


class RayTasks(Launcher):
    """A task for each job, on any node that has room for it.

    Where a node sees the run directories of this machine, it works in them. Elsewhere the files
    of a run travel: to the task when it begins, and back when it ends.
    """

    def __init__(self, address: str | None, workers: int | None, threads: int) -> None:
        """Join the cluster at HOST:PORT; None: start one on this machine."""
        if address is not None and not re.fullmatch(r"[\w.\-\[\]:]+:\d+", address):
            raise UserError(
                "--on ray:ADDRESS takes the HOST:PORT of a cluster's head, as `ray start` prints "
                f"it, not {quoted(address)}"
            )
        if workers is not None and workers < 1:
            raise UserError(f"--workers must be 1 or more, not {workers}")
        try:
            import ray
        except ImportError:
            raise missing_extra("--on ray", "ray", "ray") from None
        self.address, self.workers, self.threads = address, workers, threads
        _join(address)
        cores = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
        if max(cores) < threads:
            raise UserError(
                f"--threads {threads}: the nodes of the cluster have {max(cores)} cores"
            )
        self.at_a_time = workers or sum(each // threads for each in cores)
        self._nodes = len(cores)

    def describe(self) -> str:
        """How many jobs run at a time, and where."""
        where = f"the Ray cluster at {self.address}" if self.address else "a Ray cluster of its own"
        nodes = "one node" if self._nodes == 1 else f"{self._nodes} nodes"
        cores = "one core" if self.threads == 1 else f"{self.threads} cores"
        return f"{self.at_a_time} at a time, {cores} each, on {where} ({nodes})"

    def run(self, jobs: Sequence[Job], stop: Stop) -> Iterator[Event]:
        """Run jobs, in their order as far as there is room, and report on them."""
        import ray

        try:
            if jobs:
                _check_gpus(jobs)
                with _marked(jobs) as mark:
                    yield from self._direct(deque(jobs), stop, mark)
        finally:
            ray.shutdown()

    def _direct(self, waiting: deque[Job], stop: Stop, mark: Path) -> Iterator[Event]:
        import ray

        limit = self.workers or len(waiting)
        home = _here(ray.remote(_Home)).remote()
        running: dict[Any, _Task] = {}
        died: set[Path] = set()
        lost: set[Path] = set()
        stopping = False
        while True:
            if stopping:
                home.stop.remote()  # again and again: the actor may have been started anew
            elif stop():
                stopping = True
                waiting.clear()
                home.stop.remote()
                running = {events: task for events, task in running.items() if task.node}
            while waiting and len(running) < limit:
                task = _Task(waiting.popleft())
                running[task.submit(home, mark, again=task.job.directory in lost)] = task
            if not running:
                return
            ready, _ = ray.wait(list(running), num_returns=len(running), timeout=_ATTENTION_SECONDS)
            for events in ready:
                task = running[events]
                try:
                    yield task.hear(ray.get(next(events)))
                except StopIteration:
                    del running[events]
                except ray.exceptions.RayError as error:
                    del running[events]
                    if _is_lost(task, error):
                        lost.add(task.job.directory)
                        waiting.appendleft(task.job)
                        if task.node:  # else it had not begun
                            told = f"the node {task.node} was lost; {task.goes_on()}"
                            yield Warned(task.job, told)
                        continue
                    problem = f"the process of the run died ({str(error).strip().splitlines()[0]})"
                    if task.job.directory in died:
                        yield record_failure(task.job, f"{problem}, for the second time")
                    else:
                        died.add(task.job.directory)
                        waiting.appendleft(task.job)
                        yield Warned(task.job, f"{problem}; trying once more")
            if stopping:
                yield from (Interrupted(job) for job in waiting)
                waiting.clear()


def _is_lost(task: "_Task", error: Exception) -> bool:
    """Whether the node of a task is lost, and not its process alone.

    Where the cluster has little time, the end of the process is known before that of the node.
    """
    import ray

    if isinstance(error, ray.exceptions.NodeDiedError):
        return True
    deadline = time.monotonic() + _NEWS_SECONDS
    while task.node and time.monotonic() < deadline:
        alive = [node["NodeID"] for node in ray.nodes() if node["Alive"]]
        if not any(node.startswith(task.node) for node in alive):
            return True
        time.sleep(_ATTENTION_SECONDS)
    return False


def _check_gpus(jobs: Sequence[Job]) -> None:
    """Refuse to wait for GPUs that are not there."""
    import ray

    wanted = any(job.config.device.startswith("cuda") for job in jobs)
    if wanted and not ray.cluster_resources().get("GPU"):
        raise UserError("--device cuda: there is no GPU in the Ray cluster")


def _join(address: str | None) -> None:
    """Join the cluster at an address; None: start one, whatever else there is."""
    import ray

    told: dict[str, Any] = {"address": address}
    if address is not None:
        _check_somebody_listens(address)
    else:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent to anybody
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
        told = {"address": "local", "include_dashboard": False, "num_cpus": cores}
        told["object_store_memory"] = _STORE_BYTES
    try:
        ray.init(**told, log_to_driver=False, logging_level=logging.ERROR)
    except Exception as error:  # a bare one where the machine is too busy for Ray's patience
        where = f"the Ray cluster at {address}" if address else "a Ray cluster of this machine"
        raise UserError(f"--on ray: no connection to {where} ({error})") from error


def _check_somebody_listens(address: str) -> None:
    """Refuse an address where nobody is: Ray would try for minutes."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise UserError(
            f"--on ray: no connection to the Ray cluster at {address} ({error})"
        ) from error


class _Home:
    """The launcher's node, as tasks see it: whether they are to stop, and the files of runs."""

    def __init__(self) -> None:
        self._stopped = False

    def stop(self) -> None:
        self._stopped = True

    def stopped(self) -> bool:
        return self._stopped

    def read(self, directory: Path) -> dict[str, bytes]:
        return _read(directory)

    def write(self, directory: Path, files: dict[str, bytes]) -> None:
        _write(directory, files)


def _here(actor: Any) -> Any:
    """An actor on this node, which takes none of its cores, and is started anew if it dies."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    node = ray.get_runtime_context().get_node_id()
    place = NodeAffinitySchedulingStrategy(node_id=node, soft=False)
    return actor.options(
        num_cpus=0, scheduling_strategy=place, max_restarts=-1, max_task_retries=-1
    )


@contextmanager
def _marked(jobs: Sequence[Job]) -> Iterator[Path]:
    """A file beside the runs, by whose name a node sees whether it shares their directories."""
    places = [job.directory.resolve().parent for job in jobs]
    mark = Path(os.path.commonpath(places) if places else tempfile.gettempdir())
    mark /= f".shared-{uuid4().hex}"
    mark.touch()
    try:
        yield mark
    finally:
        mark.unlink(missing_ok=True)


@dataclass(frozen=True)
class _Placed:
    """A task has begun: where."""

    node: str
    shared: bool
    """Whether it sees the run directories of the launcher."""


class _Task:
    """A job's task, seen from outside."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.node = ""
        """Where it runs; empty while it waits for room."""
        self.shared = True

    def submit(self, home: Any, mark: Path, *, again: bool) -> Any:
        """Hand it to Ray; its messages come from what is returned."""
        import ray

        config = self.job.config
        work = ray.remote(_work).options(
            num_returns="streaming",
            max_retries=0,
            num_cpus=config.threads,
            num_gpus=1 if config.device.startswith("cuda") else 0,
            name=self.job.name,
        )
        job = replace(self.job, directory=self.job.directory.resolve())
        return work.remote(job, home, mark, again)

    def hear(self, message: "Event | _Placed") -> Event:
        """What a message of the task says."""
        if isinstance(message, _Placed):
            self.node, self.shared = message.node, message.shared
            return Began(self.job)
        return replace(message, job=self.job)

    def goes_on(self) -> str:
        """From where another node takes it up."""
        there = RunDirectory(self.job.directory).checkpoint.exists()
        if self.shared:
            return (
                "going on elsewhere from its last checkpoint"
                if there
                else "beginning anew elsewhere, for there is no checkpoint yet"
            )
        how = "going on elsewhere from the checkpoint here" if there else "beginning anew elsewhere"
        return f"{how}, for that node did not share the run directory"


@no_type_check  # by which the tests would wrap it: Ray must see that it is a generator
def _work(job: Job, home: Any, mark: Path, again: bool) -> "Iterator[Event | _Placed]":
    """Run a job on a node, in its directory or, where that is not shared, in one for a while."""
    import ray

    shared = mark.exists()
    yield _Placed(ray.get_runtime_context().get_node_id()[:8], shared)
    stop = _stop_at(home)
    if shared:
        if again:
            await_lock(job.directory)
        yield from run_job(job, stop)
        return
    with tempfile.TemporaryDirectory() as place:
        there = replace(job, directory=Path(place))
        _write(there.directory, ray.get(home.read.remote(job.directory)))
        for event in run_job(there, stop):
            if isinstance(event, Finished | Interrupted | Failed):
                ray.get(home.write.remote(job.directory, _read(there.directory)))
            yield event


def _stop_at(home: Any) -> Callable[[], bool]:
    """Whether to stop, asked from time to time; also where the launcher is gone.

    Nothing waits for the answer: a task that waits gives its cores to another one meanwhile. That
    there is none for a while is no reason to stop.
    """
    import ray

    asked, asking, stopped = 0.0, None, False

    def stop() -> bool:
        nonlocal asked, asking, stopped
        if asking is None:
            if not stopped and time.monotonic() - asked >= _STOP_SECONDS:
                asked, asking = time.monotonic(), home.stopped.remote()
        elif ray.wait([asking], timeout=0)[0]:
            try:
                stopped = ray.get(asking)
            except ray.exceptions.ActorDiedError:
                stopped = True
            except ray.exceptions.RayError:  # nobody can be reached
                stopped = False
            asking = None
        return stopped

    return stop


def _read(directory: Path) -> dict[str, bytes]:
    """The files of a run."""
    if not directory.is_dir():
        return {}
    return {
        path.name: path.read_bytes()
        for path in directory.iterdir()
        if path.is_file() and not path.name.startswith(".")
    }


def _write(directory: Path, files: dict[str, bytes]) -> None:
    """Make a directory hold these files of a run; its record comes last."""
    directory.mkdir(parents=True, exist_ok=True)
    for name in sorted(files, key="result.json".__eq__):
        write_atomically(directory / name, files[name])
    for name in _read(directory).keys() - files.keys():
        (directory / name).unlink()
