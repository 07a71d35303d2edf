"""`tpr-rnn ask`: tell a trained model a story and ask it questions."""

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tpr_rnn.cli.options import JsonOption, RunArgument, print_json
from tpr_rnn.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console

    from tpr_rnn.models.reader import Answer, Reader


def ask(
    run: RunArgument,
    *,
    story: Annotated[
        Path | None, Parameter(help="File with the story, one sentence a line.")
    ] = None,
    question: Annotated[
        str | None, Parameter(help="The question; absent: a prompt to type into.")
    ] = None,
    json: JsonOption = False,
) -> int:
    """Answer a question about a story, with the likeliest answers and their probabilities."""
    from rich.console import Console

    from tpr_rnn.data.babi import read_plain_story
    from tpr_rnn.models.reader import Reader

    if json and question is None:
        raise UserError("--json needs a --question")
    sentences = [] if story is None else read_plain_story(story)
    reader = Reader.load(run)
    console = Console(stderr=json, highlight=False, soft_wrap=True, markup=False)
    reader.check(sentences)
    if question is None:
        return _prompt(reader, sentences, console)
    answers = reader.answer(sentences, question)
    if len(sentences) > reader.story_cap:
        console.print(
            f"The story has {len(sentences)} sentences; the last {reader.story_cap} count, as in "
            "training."
        )
    for sentence in sentences:
        console.print(f"  {sentence}", markup=False)
    console.print(f"  {question}", markup=False, style="bold")
    _show_answers(answers, console)
    if json:
        print_json(
            {
                "answer": answers[0].word,
                "answers": [answer._asdict() for answer in answers],
                "question": question,
                "story": sentences,
            }
        )
    return 0


def _show_answers(answers: "list[Answer]", console: "Console") -> None:
    for answer in answers:
        bar = "█" * round(30 * answer.probability)
        console.print(f"    {answer.word:<12} {answer.probability:7.2%} {bar}", markup=False)


def _prompt(reader: "Reader", sentences: list[str], console: "Console") -> int:
    console.print(
        "Type a story, one sentence a line; a line that ends in ? is a question about it.\n"
        "story shows it, undo takes the last sentence back, new starts over, words lists what the "
        "model knows, quit ends."
    )
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  (gives the prompt line editing)
    sentences = list(sentences)
    for sentence in sentences:
        console.print(f"  {sentence}", markup=False)
    while True:
        try:
            line = input("> " if sys.stdin.isatty() else "").strip()
        except UnicodeDecodeError as error:
            raise UserError(f"what was typed is not text ({error.reason})") from error
        except (EOFError, RuntimeError):  # RuntimeError: there is no standard input at all
            return 0
        match line.lower():
            case "":
                continue
            case "quit" | "exit":
                return 0
            case "new":
                sentences.clear()
            case "undo":
                if sentences:
                    sentences.pop()
            case "story":
                for sentence in sentences:
                    console.print(f"  {sentence}", markup=False)
            case "words":
                console.print(", ".join(reader.vocabulary.words[1:]), markup=False)
            case _:
                _take_line(line, reader, sentences, console)


def _take_line(line: str, reader: "Reader", sentences: list[str], console: "Console") -> None:
    try:
        if line.endswith("?"):
            _show_answers(reader.answer(sentences, line), console)
        else:
            reader.check([line])
            sentences.append(line)
    except UserError as error:
        console.print(f"{error}", markup=False)
