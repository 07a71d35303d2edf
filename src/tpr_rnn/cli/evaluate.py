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
    from tpr_rnn.data.dataset import Corpus, Probe
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
    probe: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            help="Also score a probe of the data set, such as swapped-names, or wide; can be "
            "repeated.",
        ),
    ] = (),
    swap_names: Annotated[
        bool,
        Parameter(
            negative="",
            help="The same as --probe swapped-names: names that are new to their tasks; for a "
            "model of all tasks.",
        ),
    ] = False,
    wide: Annotated[
        bool,
        Parameter(
            negative="",
            help="The same as --probe wide: the suite of wide questions, kind by kind "
            "(docs/wide.md).",
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
        probe_table,
        without,
    )
    from tpr_rnn.data.babi.swapped_names import SWAPPED
    from tpr_rnn.data.dataset import ALL, GENERATED
    from tpr_rnn.evaluation.probes import Evaluator
    from tpr_rnn.evaluation.scoring import percent, task_errors
    from tpr_rnn.evaluation.wide import WIDE, wide_errors
    from tpr_rnn.training.final_test import with_probes
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
    flags = {SWAPPED: swap_names, WIDE: wide}
    asked = dict.fromkeys([*probe, *(name for name, given in flags.items() if given)])
    recorded = own and there.finished and (split == "test" or WIDE in asked)
    if recorded:
        there.record()  # a damaged one is refused before any question is scored
    directory = data_of_run(data, run, console)
    corpus, others = corpus_for(run, directory, [split])
    who = run if config.task != ALL else directory or GENERATED
    probes = {name: _probe(name, corpus, split, who) for name in asked if name != WIDE}
    evaluator = Evaluator(reader, corpus.max_sentences(config.settings.recipe.max_sentences))
    try:
        scores = evaluator.scores(corpus.split(split))
    except UserError as error:
        raise UserError(f"{directory or GENERATED} does not fit this model: {error}") from error
    questions = sum(scores.asked.values())
    per_task = task_errors(scores)
    new_names = evaluator.new_names(corpus.combinations) if corpus.combinations else None
    scored = {name: evaluator.probe(corpus.split(split), each) for name, each in probes.items()}
    if WIDE in asked:
        scored[WIDE] = wide_errors(reader)

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
    for name, score in scored.items():
        console.print(probe_table(name, score))
    if recorded and WIDE in scored:  # no test questions: they may be scored again
        suite = {WIDE: scored[WIDE]}
        there.write_record(with_probes(there.record(), suite, "tpr-rnn evaluate --wide"))
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
        if scored:
            document["probes"] = to_builtins(scored)
        print_json(document)
    return 0


def _probe(name: str, corpus: "Corpus", split: str, who: Path | str) -> "Probe":
    """A probe of a data set; an error if it has none of that name, or stories are missing."""
    from tpr_rnn.evaluation.wide import WIDE

    probe = corpus.data_set.probes.get(name)
    if probe is None:
        known = ", ".join([*corpus.data_set.probes, WIDE])
        raise UserError(f"there is no probe {name} of such stories ({corpus.name}), only {known}")
    missing = probe.missing(corpus.split(split))
    if missing:
        raise UserError(
            f"the probe {name} needs a model and {split} stories of all its tasks; {who} has no "
            f"task {', '.join(missing)}"
        )
    return probe


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
