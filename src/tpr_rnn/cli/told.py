"""A story and a question as somebody gives them on the command line: the options, and checks."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tpr_rnn.errors import UserError, quoted

if TYPE_CHECKING:
    from tpr_rnn.models.reader import Reader

StoryFile = Parameter(help="File with the story: sentences, or lines with bAbI's numbers.")
WordOption = Annotated[
    tuple[str, ...],
    Parameter(
        negative="",
        help="What a new word is: library=place, alice=name or lantern=thing; can be repeated.",
    ),
]


def kinds_of(given: Sequence[str]) -> dict[str, str]:
    """What new words are, by word, as somebody says it: library=place."""
    kinds = {}
    for each in given:
        word, equals, kind = each.strip().partition("=")
        if not equals:
            raise UserError(f"a word and its kind are such as library=place, not {quoted(each)}")
        kinds[word.lower()] = kind
    return kinds


def check_question(text: str) -> None:
    """Refuse what is not one question."""
    from tpr_rnn.data.babi.format import is_question, split_sentences

    parts = split_sentences(text.strip())
    if len(parts) > 1 or "?" in text.rstrip("?. "):
        raise UserError(
            f"--question takes one question, not {quoted(text)}; "
            "sentences of the story go into the file of --story"
        )
    if not is_question(text):
        raise UserError(
            f"--question takes a question, which ends in ?, not {quoted(text)}; "
            "sentences of the story go into the file of --story"
        )


def check_used(kinds: Mapping[str, str], texts: Sequence[str]) -> None:
    """Refuse to be told what a word is that nobody uses."""
    from tpr_rnn.data.vocabulary import tokenize

    there = {word for text in texts for word in tokenize(text)}
    for word in kinds:
        if word not in there:
            raise UserError(f"--word: neither story nor question has the word {quoted(word)}")


def check_words(reader: "Reader", sentences: list[str], story: Path | None) -> None:
    """Refuse a story with unknown words, and say where they stand."""
    for number, sentence in enumerate(sentences, start=1):
        try:
            reader.check([sentence])
        except UserError as error:
            raise UserError(f"{story}: sentence {number}: {error}") from error
