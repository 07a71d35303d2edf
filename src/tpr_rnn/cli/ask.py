"""`tpr-rnn ask`: questions to a trained model about a story."""

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from tpr_rnn.cli.options import JsonOption, RunArgument, load_reader, print_json, run_directory
from tpr_rnn.errors import UserError, quoted
from tpr_rnn.pictures import check_format

if TYPE_CHECKING:
    from tpr_rnn.analysis.schema import Trace
    from tpr_rnn.cli.console import Console
    from tpr_rnn.models.reader import Answer, Reader


def ask(
    run: RunArgument = None,
    *,
    story: Annotated[
        Path | None, Parameter(help="File with the story: sentences, or lines with bAbI's numbers.")
    ] = None,
    question: Annotated[
        str | None, Parameter(help="The question; absent: a prompt to type into.")
    ] = None,
    explain: Annotated[
        bool,
        Parameter(
            negative="",
            help="Say why: what each step found in the memory, and which sentence stored it.",
        ),
    ] = False,
    word: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            help="What a new word is: library=place, alice=name or lantern=thing; can be repeated.",
        ),
    ] = (),
    graph: Annotated[
        Path | None,
        Parameter(help="Draw the memory after the story into this file (.png, .svg or .pdf)."),
    ] = None,
    json: JsonOption = False,
) -> int:
    """Answer a question about a story, with the likeliest answers and their probabilities."""
    from tpr_rnn.cli.console import Console
    from tpr_rnn.data.babi.format import read_plain_story

    for option, given in (("--json", json), ("--graph", graph)):
        if given and question is None:
            raise UserError(f"{option} needs a --question")
    if graph is not None:
        check_format(graph)
    if question is not None:
        _check_question(question)
    sentences = [] if story is None else read_plain_story(story)
    kinds = _kinds(word)
    reader = load_reader(run_directory(run))
    console = Console(to_stderr=json)
    _check_words(reader.for_words([*sentences, question or ""], kinds), sentences, story)
    if question is None:
        return _prompt(reader, sentences, kinds, explain, console)
    answers = reader.answer(sentences, question, kinds=kinds)
    if reader.max_sentences is not None and len(sentences) > reader.max_sentences:
        console.print(
            f"The story has {len(sentences)} sentences; the model reads the last "
            f"{reader.max_sentences}, as in training."
        )
    if not sentences and not explain:  # an explanation says it itself
        console.print("There is no story (--story FILE), so this is a guess.")
    new = reader.for_words([*sentences, question], kinds).new_words
    for each in new:
        console.print(f"{each} (--word {each.word}=thing, say, if it is not)")
    _show_story(sentences, console)
    console.print(f"  {question}", style="bold")
    _show_answers(answers, console)
    absent = reader.not_told(sentences, question, kinds)
    _say_what_is_absent(absent, console)
    document: dict[str, Any] = {
        "answer": answers[0].word,
        "answers": [answer._asdict() for answer in answers],
        "question": question,
        "story": sentences,
        "not_told": absent,
    }
    if new:
        document["new_words"] = {each.word: each.kind for each in new}
    if explain or graph is not None:
        from tpr_rnn.analysis.trace import trace

        found = trace(reader, sentences, question, kinds=kinds)
        if explain:
            _show_explanation(found, console)
            document["trace"] = found.as_json()
        if graph is not None:
            from tpr_rnn.analysis.graph_picture import draw_memory

            draw_memory(found, graph)
            console.print(f"Drawn: {graph}")
    if json:
        print_json(document)
    return 0


def _show_story(sentences: list[str], console: "Console") -> None:
    for number, sentence in enumerate(sentences, start=1):
        console.print(f"{number:4}  {sentence}")


def _show_explanation(found: "Trace", console: "Console") -> None:
    from tpr_rnn.analysis.explanation import explain

    for line in explain(found):
        console.print(line, style=None if line.startswith(" ") else "bold")


def _show_answers(answers: "list[Answer]", console: "Console") -> None:
    for answer in answers:
        bar = "█" * round(30 * answer.probability)
        console.print(f"    {answer.word:<12} {answer.probability:7.2%} {bar}")


def _say_what_is_absent(words: list[str], console: "Console") -> None:
    """Name whatever a question is about that the story never mentions."""
    if words:
        console.print(f"The story does not mention {', '.join(words)}.")


def _check_question(text: str) -> None:
    """Refuse what is not one question."""
    from tpr_rnn.data.babi.format import split_sentences

    parts = split_sentences(text.strip())
    if len(parts) > 1 or "?" in text.rstrip("? "):
        raise UserError(
            f"--question takes one question, not {quoted(text)}; "
            "sentences of the story go into the file of --story"
        )
    if not text.rstrip().endswith("?"):
        raise UserError(
            f"--question takes a question, which ends in ?, not {quoted(text)}; "
            "sentences of the story go into the file of --story"
        )


def _check_words(reader: "Reader", sentences: list[str], story: Path | None) -> None:
    """Refuse a story with unknown words, and say where they stand."""
    for number, sentence in enumerate(sentences, start=1):
        try:
            reader.check([sentence])
        except UserError as error:
            raise UserError(f"{story}: sentence {number}: {error}") from error


def _kinds(given: tuple[str, ...]) -> dict[str, str]:
    """What new words are, by word."""
    kinds = {}
    for each in given:
        word, equals, kind = each.strip().partition("=")
        if not equals:
            raise UserError(f"a word and its kind are such as library=place, not {quoted(each)}")
        kinds[word.lower()] = kind
    return kinds


def _prompt(
    reader: "Reader",
    sentences: list[str],
    kinds: dict[str, str],
    explain: bool,
    console: "Console",
) -> int:
    from tpr_rnn.data.babi.format import split_sentences

    console.print(
        "Type a story; a sentence that ends in ? is a question about it.\n"
        "Commands: story shows it, undo removes the last sentence, new starts over, words lists "
        "the words that the model knows, word library=place says what a new one is, quit ends."
    )
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  (gives the prompt line editing)
    sentences = list(sentences)
    _show_story(sentences, console)
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
                _show_story(sentences, console)
            case "words":
                console.print(", ".join(reader.vocabulary.words[1:]))
            case new if new.startswith("word "):
                try:
                    kinds |= _kinds((new.removeprefix("word "),))
                except UserError as error:
                    console.print(str(error))
            case _:
                for text in split_sentences(line):
                    _take(text, reader, sentences, kinds, explain, console)


def _take(
    text: str,
    reader: "Reader",
    sentences: list[str],
    kinds: dict[str, str],
    explain: bool,
    console: "Console",
) -> None:
    try:
        before = reader.for_words(sentences, kinds).new_words
        after = reader.for_words([*sentences, text], kinds)
        for each in after.new_words[len(before) :]:
            console.print(f"{each} (if it is not: word {each.word}=thing, say)")
        if text.endswith("?"):
            _show_answers(reader.answer(sentences, text, kinds=kinds), console)
            _say_what_is_absent(reader.not_told(sentences, text, kinds), console)
            if explain:
                from tpr_rnn.analysis.trace import trace

                _show_explanation(trace(reader, sentences, text, kinds=kinds), console)
        else:
            after.check([text])
            sentences.append(text)
    except UserError as error:
        console.print(str(error))
