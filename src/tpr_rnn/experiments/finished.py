"""Which runs of an experiment are finished already, and are they the ones that are asked for?"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from tpr_rnn.data.corpus import GENERATED
from tpr_rnn.data.stories import load_stories
from tpr_rnn.errors import UserError
from tpr_rnn.experiments.grid import Job
from tpr_rnn.training.compare import (
    Difference,
    all_settings,
    first_difference,
    settings_of_result,
)
from tpr_rnn.training.run_config import RunConfig
from tpr_rnn.training.run_directory import RunDirectory


def results_there(jobs: Iterable[Job]) -> dict[Path, dict[str, Any]]:
    """The results of jobs that are finished, by directory.

    A record alone counts, as in a fresh checkout of published ones. A run with other settings, or
    on other stories, in the place of a job is an error.
    """
    found = {}
    for job in jobs:
        there = RunDirectory(job.directory)
        if there.finished:
            found[job.directory] = result = there.result()
            _check_result(job, result)
        elif there.started:
            _refuse(job, job.config.difference(RunConfig.of(job.directory)))
    return found


def _check_result(job: Job, result: dict[str, Any]) -> None:
    wanted = job.config
    own = ("task", "seed", "preset")
    name = GENERATED if wanted.data is None else Path(wanted.data).name
    asked = {key: getattr(wanted, key) for key in own} | {"data": name}
    try:
        there = {key: result[key] for key in asked} | settings_of_result(result)
        checksum = result["data_sha256"]
    except (AttributeError, LookupError, TypeError, UserError) as error:
        raise UserError(f"{job.directory / 'result.json'}: not that of a run ({error})") from error
    _refuse(job, first_difference(asked | all_settings(wanted.settings), there))
    if checksum != _checksum(wanted.data, wanted.task):
        raise UserError(
            f"{job.directory}: the run there has seen other stories than there are in "
            f"{wanted.data or 'the simulator'} now; {_ADVICE}"
        )


def _refuse(job: Job, difference: Difference | None) -> None:
    if difference is not None:
        name, wanted, there = difference
        raise UserError(
            f"{job.directory}: the run there has {name} {there}, not {wanted}; {_ADVICE}"
        )


_ADVICE = "move it away, or choose another --out"


@cache
def _checksum(data: str | None, task: str) -> str:
    directory = None if data is None else Path(data)
    return load_stories(directory, task, substitute_missing=True).sha256
