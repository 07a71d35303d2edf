"""Which runs of an experiment are finished already, and do they fit the request?"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from tpr_rnn.data.corpus import TRAINING, load_corpus
from tpr_rnn.data.dataset import GENERATED
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.reading import Found, find_records
from tpr_rnn.evaluation.record import RunRecord
from tpr_rnn.experiments.grid import Job, place_of
from tpr_rnn.settings import Difference, first_difference
from tpr_rnn.training.preset import Preset
from tpr_rnn.training.run_config import RunConfig
from tpr_rnn.training.run_directory import RunDirectory


def records_there(jobs: Iterable[Job], kept: Path | None = None) -> dict[Path, RunRecord]:
    """The records of jobs that are finished, by directory.

    A run with other settings, or on other stories, in the place of a job is an error.

    Args:
        jobs: the jobs.
        kept: a file of records, for jobs that were finished elsewhere.
    """
    elsewhere = {place_of(found.record): found for found in _kept(kept)}
    found = {}
    for job in jobs:
        there = RunDirectory(job.directory)
        if there.finished:
            found[job.directory] = record = there.record()
            _check_record(job, record, str(job.directory))
        elif job.place in elsewhere:
            where, found[job.directory] = elsewhere[job.place]
            _check_record(job, found[job.directory], where)
        elif there.started:
            _refuse(str(job.directory), job.config.difference(RunConfig.of(job.directory)))
    return found


def _kept(records: Path | None) -> list[Found]:
    return find_records([records]) if records is not None and records.exists() else []


def _check_record(job: Job, record: RunRecord, where: str) -> None:
    wanted = job.config
    name = GENERATED if wanted.data is None else Path(wanted.data).name
    asked = {"task": wanted.task, "seed": wanted.seed, "preset": wanted.preset, "data": name}
    there = {key: getattr(record, key) for key in asked}
    try:
        settings = Preset.of_record(record).all_settings()
    except UserError as error:
        raise UserError(f"{where}: the record there is not that of a run ({error})") from error
    _refuse(where, first_difference(asked | wanted.settings.all_settings(), there | settings))
    if record.data_sha256 != _checksum(wanted.data, wanted.task):
        raise UserError(
            f"{where}: the run there has seen other stories than there are in "
            f"{wanted.data or 'the simulator'} now; {_ADVICE}"
        )


def _refuse(where: str, difference: Difference | None) -> None:
    if difference is not None:
        name, wanted, there = difference
        raise UserError(f"{where}: the run there has {name} {there}, not {wanted}; {_ADVICE}")


_ADVICE = "move it away, or choose another place"


@cache
def _checksum(data: str | None, task: str) -> str:
    directory = None if data is None else Path(data)
    return load_corpus(directory, task, needed=TRAINING).sha256
