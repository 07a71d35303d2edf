"""`tpr-rnn evaluate`: errors of a trained model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from tpr_rnn.cli.options import (
    JsonOption,
    RunArgument,
    RunDataOption,
    data_of_run,
    load_reader,
    print_json,
    run_directory,
)
from tpr_rnn.errors import UserError

if TYPE_CHECKING:
    from tpr_rnn.evaluation.record import RunRecord, WideErrors
    from tpr_rnn.training.run_config import RunConfig
    from tpr_rnn.training.run_directory import RunDirectory

COMMAND = "tpr-rnn evaluate --split test"
"""What a record says of test errors that came from here."""


def evaluate(
    run: RunArgument = None,
    *,
    data: RunDataOption = None,
    split: Annotated[
        Literal["train", "valid", "test"],
        Parameter(
            help="Questions to score on. Those of the test are for the end, when all choices are "
            "made: the run's result.json keeps when they were scored first."
        ),
    ] = "valid",
    swap_names: Annotated[
        bool,
        Parameter(
            negative="",
            help="Also score with swapped names, each new to its task; for a model of all tasks.",
        ),
    ] = False,
    wide: Annotated[
        bool,
        Parameter(
            negative="",
            help="Also score on the suite of wide questions, kind by kind (docs/wide.md).",
        ),
    ] = False,
    json: JsonOption = False,
) -> int:
    """Score a trained model: the error of each task and the mean over tasks."""
    from msgspec import to_builtins

    from tpr_rnn.cli.console import Console
    from tpr_rnn.cli.result_tables import (
        error_table,
        new_names_table,
        swapped_names_table,
        wide_table,
        without,
    )
    from tpr_rnn.data.dataset import ALL, GENERATED
    from tpr_rnn.evaluation.probes import Evaluator
    from tpr_rnn.evaluation.scoring import percent, task_errors
    from tpr_rnn.evaluation.wide import wide_errors
    from tpr_rnn.training.run_config import RunConfig, corpus_for
    from tpr_rnn.training.run_directory import RunDirectory

    own = run is not None
    run = run_directory(run)
    reader = load_reader(run)
    console = Console(to_stderr=json)
    config = RunConfig.of(run)
    there = RunDirectory(run)
    if split == "test" and not there.finished:
        raise UserError(
            f"{run}: the run is not finished, and test questions are for the end; --split valid "
            "scores it on others"
        )
    if there.finished:
        there.record()  # a damaged one is refused before any question is scored
    directory = data_of_run(data, run, console)
    corpus, others = corpus_for(run, directory, [split])
    probe = corpus.data_set.swapped_names if swap_names else None
    if swap_names and probe is None:
        raise UserError(f"--swap-names: {directory} is no data set that has names to swap")
    missing_files = [] if probe is None else probe.missing(corpus.stories)
    if missing_files:
        who = run if config.task != ALL else directory or GENERATED
        raise UserError(
            f"--swap-names needs a model and {split} stories of all tasks; {who} has no task "
            f"{', '.join(missing_files)}"
        )
    evaluator = Evaluator(reader, corpus.max_sentences(config.settings.recipe.max_sentences))
    try:
        scores = evaluator.scores(corpus.split(split))
    except UserError as error:
        raise UserError(f"{directory or GENERATED} does not fit this model: {error}") from error
    questions = sum(scores.asked.values())
    per_task = task_errors(scores)
    new_names = evaluator.new_names(corpus.combinations) if corpus.combinations else None
    swapped = evaluator.swapped_names(corpus.split(split), probe) if probe else None
    suite = wide_errors(reader) if wide else None

    console.print(f"{run} on {questions} {split} questions from {directory or corpus.name}")
    if directory is None and config.data is not None:
        console.print(f"It was trained on {config.data}; give --data to score it there.")
    if others:
        console.print(f"without tasks that it was not trained on: {', '.join(others)}")
    for line in without(corpus.missing_files):
        console.print(line)
    console.print(error_table(split, scores.error, per_task))
    if new_names is not None:
        console.print(new_names_table(new_names))
    if swapped is not None:
        console.print(swapped_names_table(swapped))
    if suite is not None:
        console.print(wide_table(suite))
        console.print(
            f"{suite.unknown_found:.2f} % of the questions that nothing told answers get unknown, "
            f"and {suite.unknown_wrongly:.2f} % of all others. How sure the model is differs by "
            f"{suite.calibration_error:.2f} points from how often it is right."
        )
        if own and there.finished:
            there.write_record(_with_wide(there.record(), suite))
    if own and split == "test":
        console.print(_record_test(there, config, directory))
    if json:
        document: dict[str, Any] = {
            "task": config.task,
            "seed": config.seed,
            "preset": config.preset,
            "data": corpus.name,
            "split": split,
            "error": percent(scores.error),
            "per_task": to_builtins(per_task),
            "questions": questions,
            "data_sha256": corpus.sha256,
        }
        if new_names is not None:
            document["new_names"] = to_builtins(new_names)
        if swapped is not None:
            document["swapped_names"] = to_builtins(swapped)
        if suite is not None:
            document["wide"] = to_builtins(suite)
        print_json(document)
    return 0


def _with_wide(record: "RunRecord", suite: "WideErrors") -> "RunRecord":
    """The record with how wide questions fared; these are no test questions, and may be redone."""
    from msgspec import structs

    from tpr_rnn.evaluation.provenance import now
    from tpr_rnn.evaluation.record import WideSuite

    measured = WideSuite(**structs.asdict(suite), when=now(), command="tpr-rnn evaluate --wide")
    return structs.replace(record, wide=measured)


def _record_test(there: "RunDirectory", config: "RunConfig", directory: Path | None) -> str:
    """Keep in the record of a run that its test questions were scored; what to say about it."""
    from tpr_rnn.training.final_test import score_test

    if (directory and str(directory.resolve())) != config.data:
        return "Not recorded: these are not the stories that it was trained on."
    before = there.record().test
    if before is not None:
        return f"Its test errors were recorded before: {before.when}, by {before.command}."
    score_test(there.path, COMMAND)
    return f"Recorded in {there.path / 'result.json'}, with the time and this command."
