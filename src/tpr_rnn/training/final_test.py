"""The test questions are for the end: scored when somebody asks for it, and recorded once."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import structs

from tpr_rnn.data.corpus import TRAINING, load_corpus
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.probes import Evaluator
from tpr_rnn.evaluation.provenance import now
from tpr_rnn.evaluation.record import FinalErrors, NewNames, ProbeScore, RecordedProbe, RunRecord
from tpr_rnn.evaluation.scoring import percent, task_errors
from tpr_rnn.models.reader import Reader
from tpr_rnn.training.run_config import RunConfig, scored_task
from tpr_rnn.training.run_directory import RunDirectory


def score_test(directory: Path, command: str) -> RunRecord:
    """Score a finished run on its test questions, with the probes that go with them.

    A run that has been scored before is left as it is.
    """
    there = RunDirectory(directory)
    record = there.record()
    if record.test is not None:
        return record
    config = RunConfig.of(directory)
    data = None if config.data is None else Path(config.data)
    corpus = load_corpus(data, config.task, needed=TRAINING)
    if corpus.sha256 != record.data_sha256:
        raise UserError(
            f"{directory}: its test questions cannot be scored, for "
            f"{config.data or 'the generated stories'} is no longer what it was trained on"
        )
    if scored_task(config.task) != config.task:
        corpus = load_corpus(data, scored_task(config.task), ["test"])
    if not corpus.split("test"):
        raise UserError(f"{config.data}: there is no test file of task {config.task}")
    max_sentences = corpus.max_sentences(config.settings.recipe.max_sentences)
    evaluator = Evaluator(Reader.load(directory), max_sentences)
    scores = evaluator.scores(corpus.split("test"))
    errors = FinalErrors(
        error=percent(scores.error), per_task=task_errors(scores), when=now(), command=command
    )
    record = structs.replace(record, test=errors)
    if corpus.combinations:
        per_name = evaluator.new_names(corpus.combinations)
        record = structs.replace(
            record, new_names=NewNames(per_name=per_name, when=now(), command=command)
        )
    else:
        scored = {
            name: evaluator.probe(corpus.split("test"), probe)
            for name, probe in corpus.data_set.probes.items()
            if not probe.missing(corpus.split("test"))
        }
        record = with_probes(record, scored, command)
    there.write_record(record)
    return record


def with_probes(record: RunRecord, scored: Mapping[str, ProbeScore], command: str) -> RunRecord:
    """The record with how probes fared."""
    recorded = {
        name: RecordedProbe(**structs.asdict(score), when=now(), command=command)
        for name, score in scored.items()
    }
    return structs.replace(record, probes=record.probes | recorded)
