"""`tpr-rnn evaluate`: errors of a trained model."""

from typing import Annotated, Any, Literal

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


def evaluate(
    run: RunArgument = None,
    *,
    data: RunDataOption = None,
    split: Annotated[
        Literal["train", "valid", "test"], Parameter(help="Questions to score on.")
    ] = "test",
    swap_names: Annotated[
        bool,
        Parameter(
            negative="",
            help="Also with names in tasks that lack them in training; for a model of all tasks.",
        ),
    ] = False,
    json: JsonOption = False,
) -> int:
    """Score a trained model: the error of each task and the mean over tasks."""
    from tpr_rnn.cli.console import Console
    from tpr_rnn.cli.training_view import error_table, new_names_table, swapped_names_table
    from tpr_rnn.data.corpus import GENERATED
    from tpr_rnn.data.swapped_names import SWAPS
    from tpr_rnn.evaluation.probes import Evaluator
    from tpr_rnn.training.run_config import RunConfig, corpus_for

    run = run_directory(run)
    reader = load_reader(run)
    console = Console(to_stderr=json)
    config = RunConfig.of(run)
    directory = data_of_run(data, run, console)
    corpus, others = corpus_for(run, directory, [split])
    missing_files = [task for task in SWAPS if task not in corpus.stories]
    if swap_names and missing_files:
        who = run if config.task != "all" else directory or GENERATED
        raise UserError(
            f"--swap-names needs a model and {split} stories of all tasks; {who} has no task "
            f"{', '.join(missing_files)}"
        )
    evaluator = Evaluator(reader, config.settings.recipe.cap)
    try:
        scores = evaluator.scores(corpus.split(split))
    except UserError as error:
        raise UserError(f"{directory or GENERATED} does not fit this model: {error}") from error
    questions = sum(scores.asked.values())

    key = f"{split}_error"
    result: dict[str, Any] = {
        "task": config.task,
        "seed": config.seed,
        "preset": config.preset,
        "data": corpus.name,
        "split": split,
        key: round(scores.error, 4),
        "per_task": {task: {key: round(err, 4)} for task, err in scores.errors.items()},
        "questions": questions,
        "data_sha256": corpus.sha256,
    }
    if corpus.combinations:
        result["new_names"] = evaluator.new_names(corpus.combinations)
    if swap_names:
        result["swapped_names"] = evaluator.swapped_names(corpus.split(split))
    console.print(f"{run} on {questions} {split} questions from {directory or corpus.name}")
    if directory is None and config.data is not None:
        console.print(f"It was trained on {config.data}; give --data to score it there.")
    if others:
        console.print(f"without tasks that it was not trained on: {', '.join(others)}")
    for task, lack in corpus.missing_files.items():
        console.print(f"without task {task}: {lack}")
    console.print(error_table({split: key}, result["per_task"], result))
    if corpus.combinations:
        console.print(new_names_table(result["new_names"]))
    if swap_names:
        console.print(swapped_names_table(result["swapped_names"]))
    if json:
        print_json(result)
    return 0
