"""`tpr-rnn explain`: why a model answers as it does, in a file to show to others."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tpr_rnn.cli.options import RunArgument, load_reader, run_directory
from tpr_rnn.cli.told import (
    StoryFile,
    WordOption,
    check_question,
    check_used,
    check_words,
    kinds_of,
)
from tpr_rnn.errors import UserError, missing_extra


def explain(
    run: RunArgument = None,
    *,
    story: Annotated[Path, StoryFile],
    question: Annotated[str, Parameter(help="The question.")],
    html: Annotated[
        Path,
        Parameter(help="The file to write: a page with all that it needs, for any browser."),
    ],
    word: WordOption = (),
) -> int:
    """Save the page of the explorer with one story, to show without a server."""
    from tpr_rnn.cli.console import Console
    from tpr_rnn.data.babi.format import read_plain_story
    from tpr_rnn.files import write_atomically

    if html.suffix not in (".html", ".htm"):
        raise UserError(f"{html}: the name of a page ends in .html")
    check_question(question)
    sentences = read_plain_story(story)
    kinds = kinds_of(word)
    reader = load_reader(run_directory(run))
    check_used(kinds, [*sentences, question])
    reader.check_kinds(kinds)
    _ = reader.memory_model  # another kind of model is refused before anything is read
    check_words(reader.for_words([*sentences, question], kinds), sentences, story)
    try:
        from tpr_rnn.explorer.saved import saved_page
        from tpr_rnn.explorer.service import Service
    except ImportError as error:
        raise missing_extra("a page", error.name or "a library", "explore") from error
    name = "the bundled model" if run is None else run.resolve().name
    page = saved_page(Service(reader, name), sentences, question, kinds).encode()
    write_atomically(html, page)
    Console().print(f"Saved: {html} ({len(page) / 1000:.0f} kB)")
    return 0
