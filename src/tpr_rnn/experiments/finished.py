"""Which runs of an experiment are finished already, and do they fit the request?"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from tpr_rnn.data.corpus import TRAINING, load_corpus
from tpr_rnn.data.dataset import GENERATED
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.record import RunRecord
from tpr_rnn.experiments.grid import Job
from tpr_rnn.settings import Difference, first_difference
from tpr_rnn.training.preset import Preset
from tpr_rnn.training.run_config import RunConfig
from tpr_rnn.training.run_directory import RunDirectory


def records_there(jobs: Iterable[Job]) -> dict[Path, RunRecord]:
    """The records of jobs that are finished, by directory.

    A run with other settings, or on other stories, in the place of a job is an error.
    """
    found = {}
    for job in jobs:
        there = RunDirectory(job.directory)
        if there.finished:
            found[job.directory] = record = there.record()
            _check_record(job, record)
        elif there.started:
            _refuse(job, job.config.difference(RunConfig.of(job.directory)))
    return found


def _check_record(job: Job, record: RunRecord) -> None:
    wanted = job.config
    name = GENERATED if wanted.data is None else Path(wanted.data).name
    asked = {"task": wanted.task, "seed": wanted.seed, "preset": wanted.preset, "data": name}
    there = {key: getattr(record, key) for key in asked}
    try:
        settings = Preset.of_record(record).all_settings()
    except UserError as error:
        raise UserError(f"{job.directory / 'result.json'}: not that of a run ({error})") from error
    _refuse(job, first_difference(asked | wanted.settings.all_settings(), there | settings))
    if record.data_sha256 != _checksum(wanted.data, wanted.task):
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
    return load_corpus(directory, task, needed=TRAINING).sha256
