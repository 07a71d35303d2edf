"""`tpr-rnn analyze`: what the representations of a trained model stand for."""

from pathlib import Path
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
from tpr_rnn.files import make_directory


def analyze(
    run: RunArgument = None,
    *,
    data: RunDataOption = None,
    out: Annotated[
        Path | None,
        Parameter(
            help="Directory for the report; absent: analysis/ in the run directory, or here."
        ),
    ] = None,
    split: Annotated[
        Literal["train", "valid", "test"], Parameter(help="Split to take the sentences from.")
    ] = "valid",
    sample: Annotated[
        int,
        Parameter(help="Sentences in a picture with labels; if there are more, a random choice."),
    ] = 50,
    seed: Annotated[int, Parameter(help="Seed of every random choice.")] = 0,
    json: JsonOption = False,
) -> int:
    """Cluster the representations of sentences and questions: measure, draw and list them."""
    from rich.markdown import Markdown

    from tpr_rnn.analysis import representations
    from tpr_rnn.cli.console import Console
    from tpr_rnn.cli.result_tables import without
    from tpr_rnn.data.dataset import GENERATED
    from tpr_rnn.report.representations import representations_page, write_representations
    from tpr_rnn.training.run_config import corpus_for

    if sample < 2:
        raise UserError(f"--sample must be 2 or more, not {sample}")
    if seed < 0:
        raise UserError(f"--seed must be 0 or more, not {seed}")
    out = out or (Path() if run is None else run_directory(run)) / "analysis"
    run = run_directory(run)
    reader = load_reader(run)
    _ = reader.memory_model  # another kind of model is refused before anything is read
    console = Console(to_stderr=json)
    directory = data_of_run(data, run, console)
    console.print("reading the stories", style="dim")
    corpus, _ = corpus_for(run, directory, [split])
    for line in without(corpus.missing_files):
        console.print(line)
    stories = {task: splits[split] for task, splits in corpus.stories.items()}
    texts: dict[str, None] = {}
    for story in corpus.all_stories():
        texts |= dict.fromkeys(story.sentences)
        texts |= dict.fromkeys(asked.text for asked in story.questions)
    try:
        reader.check(list(texts))
    except UserError as error:
        raise UserError(f"{directory or GENERATED} does not fit this model: {error}") from error
    make_directory(out)
    console.print("clustering and drawing", style="dim")
    document: dict[str, Any] = {
        "tasks": list(corpus.stories),
        "data": corpus.name,
        "data_sha256": corpus.sha256,
        "split": split,
        **representations.analyze(reader, stories, out, sample=sample, seed=seed),
    }
    write_representations(document, out)
    console.print(Markdown(representations_page(document)), soft_wrap=False)
    console.print(f"Saved in {out}: report.md, report.json, pictures and lists")
    if json:
        print_json(document)
    return 0
