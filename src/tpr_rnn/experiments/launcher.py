"""Many runs on local processes: finished ones are skipped, failed ones recorded."""

import json
import multiprocessing
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tpr_rnn.errors import UserError
from tpr_rnn.files import write_atomically

FAILURE = "failure.json"


@dataclass(frozen=True)
class Job:
    """One run of a grid, and where it lives."""

    config: dict[str, Any]
    """As `RunConfig.as_json` gives it."""
    directory: Path


@dataclass(frozen=True)
class Outcome:
    """What came of a job: a result, or the reason why there is none."""

    job: Job
    result: dict[str, Any] | None
    problem: str | None = None


def launch(jobs: Sequence[Job], workers: int) -> Iterator[Outcome]:
    """Run jobs on so many processes; yield what comes of each as soon as it is known.

    A job that is finished already is not run again, one that was interrupted goes on, and one
    that fails is recorded beside its run and does not hold up the others.
    """
    if workers < 1:
        raise UserError(f"--workers must be 1 or more, not {workers}")
    # A fresh interpreter for each worker: torch's threads do not survive a fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        running = {pool.submit(_run, job): job for job in jobs}
        try:
            for future in as_completed(running):
                yield future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _run(job: Job) -> Outcome:
    from tpr_rnn.training.run import Run, RunConfig
    from tpr_rnn.training.run_directory import RunDirectory

    there = RunDirectory(job.directory)
    try:
        if there.started and not job.config.items() <= there.config().items():
            raise UserError(f"{job.directory}: there is a run with other settings; move it away")
        if there.finished:
            return Outcome(job, there.result())
        begun = there.started
        config = RunConfig.from_json(job.config)
        run = Run.resume(job.directory) if begun else Run.begin(config, job.directory)
        for _ in run.events():
            pass
        return Outcome(job, run.finish())
    except Exception as error:
        problem = str(error) if isinstance(error, UserError) else traceback.format_exc()
        job.directory.mkdir(parents=True, exist_ok=True)
        record = json.dumps({"config": job.config, "problem": problem}, indent=2) + "\n"
        write_atomically(job.directory / FAILURE, record.encode())
        return Outcome(job, None, problem)
