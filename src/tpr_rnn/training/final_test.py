"""The test questions are for the end: scored when somebody asks for it, and recorded once."""

from pathlib import Path

from msgspec import structs

from tpr_rnn.data.corpus import TRAINING, load_corpus
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.probes import Evaluator
from tpr_rnn.evaluation.provenance import now
from tpr_rnn.evaluation.record import FinalErrors, NewNames, RunRecord, SwappedNames
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
    probe = corpus.data_set.swapped_names
    if corpus.combinations:
        per_name = evaluator.new_names(corpus.combinations)
        record = structs.replace(
            record, new_names=NewNames(per_name=per_name, when=now(), command=command)
        )
    elif probe is not None and not probe.missing(corpus.split("test")):
        swapped = structs.asdict(evaluator.swapped_names(corpus.split("test"), probe))
        record = structs.replace(
            record, swapped_names=SwappedNames(**swapped, when=now(), command=command)
        )
    there.write_record(record)
    return record
