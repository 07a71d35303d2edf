"""`tpr-rnn ask`: questions to a trained model about a story."""

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from tpr_rnn.cli.options import JsonOption, RunArgument, load_reader, print_json, run_directory
from tpr_rnn.cli.told import (
    StoryFile,
    WordOption,
    check_question,
    check_used,
    check_words,
    kinds_of,
)
from tpr_rnn.errors import UserError
from tpr_rnn.pictures import check_format


def ask(
    run: RunArgument = None,
    *,
    story: Annotated[Path | None, StoryFile] = None,
    question: Annotated[
        str | None, Parameter(help="The question; absent: a prompt to type into.")
    ] = None,
    explain: Annotated[
        tuple[Literal["full"], ...] | None,
        Parameter(
            negative="",
            consume_multiple=True,
            help="Say why: the sentences that the answer rests on; 'full': also what each step "
            "found, and what the memory holds.",
        ),
    ] = None,
    word: WordOption = (),
    graph: Annotated[
        Path | None,
        Parameter(help="Draw the memory after the story into this file (.png, .svg or .pdf)."),
    ] = None,
    json: JsonOption = False,
) -> int:
    """Answer a question about a story, with the likeliest answers and their probabilities."""
    from tpr_rnn.cli.console import Console
    from tpr_rnn.cli.prompt import (
        Prompt,
        say_what_is_absent,
        show_answers,
        show_explanation,
        show_story,
    )
    from tpr_rnn.data.babi.format import read_plain_story

    for option, given in (("--json", json), ("--graph", graph)):
        if given and question is None:
            raise UserError(f"{option} needs a --question")
    if graph is not None:
        check_format(graph)
    if question is not None:
        check_question(question)
    sentences = [] if story is None else read_plain_story(story)
    kinds = kinds_of(word)
    reader = load_reader(run_directory(run))
    if question is not None:
        check_used(kinds, [*sentences, question])
    reader.check_kinds(kinds)
    if explain is not None or graph is not None:
        _ = reader.memory_model  # a model without one is refused before it answers
    console = Console(to_stderr=json)
    check_words(reader.for_words([*sentences, question or ""], kinds), sentences, story)
    if question is None:
        return Prompt(reader, console, sentences, kinds, explain).run()
    answers = reader.answer(sentences, question, kinds=kinds)
    if reader.max_sentences is not None and len(sentences) > reader.max_sentences:
        console.print(
            f"The story has {len(sentences)} sentences; the model reads the last "
            f"{reader.max_sentences}, as in training."
        )
    if not sentences and explain is None:  # an explanation says it by itself
        console.print("There is no story (--story FILE), so this is a guess.")
    new = reader.for_words([*sentences, question], kinds).new_words
    for each in new:
        console.print(f"{each} (--word {each.word}=thing, say, if it is not)")
    show_story(sentences, console)
    console.print(f"  {question}", style="bold")
    show_answers(answers, console)
    absent = reader.not_told(sentences, question, kinds)
    if explain is None:  # here too
        say_what_is_absent(absent, console)
    document: dict[str, Any] = {
        "answer": answers[0].word,
        "answers": [answer._asdict() for answer in answers],
        "question": question,
        "story": sentences,
        "not_told": absent,
    }
    if new:
        document["new_words"] = {each.word: each.kind for each in new}
    if explain is not None or graph is not None:
        from tpr_rnn.analysis.trace import trace

        found = trace(reader, sentences, question, kinds=kinds)
        if explain is not None:
            show_explanation(found, console, full=bool(explain))
            document["trace"] = found.as_json()
        if graph is not None:
            from tpr_rnn.analysis.graph_picture import draw_memory

            draw_memory(found, graph)
            console.print(f"Drawn: {graph}")
    if json:
        print_json(document)
    return 0
