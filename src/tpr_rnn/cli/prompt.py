"""The prompt of `tpr-rnn ask`: a story and questions about it, line by line; and what it shows."""

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from tpr_rnn.analysis.explanation import explain
from tpr_rnn.analysis.schema import Trace
from tpr_rnn.analysis.trace import trace
from tpr_rnn.cli.console import Console
from tpr_rnn.cli.told import kinds_of
from tpr_rnn.data.babi.format import is_question, split_sentences
from tpr_rnn.errors import UserError
from tpr_rnn.models.reader import Answer, Reader

SHOWN = 0.01
"""Answers that are less likely than this are not shown, but for the first."""

HELP = """\
Type a story; a sentence that ends in ? is a question about it.
  why                 the reasons for the last answer; why full: step by step
  story               the story so far
  undo                remove its last sentence
  new                 start over
  words               the words that the model knows
  word library=place  what a new word is: a name, a thing or a place
  help                these lines
  quit                end (as control-D does)
The arrow keys bring back earlier lines."""


@dataclass
class Prompt:
    """A conversation about a story, which grows."""

    reader: Reader
    console: Console
    sentences: list[str]
    kinds: dict[str, str]
    """What new words are, by word."""
    explaining: tuple[str, ...] | None
    """Whether each answer comes with its reasons, and how many of them (`ask --explain`)."""
    asked: tuple[tuple[str, ...], str] | None = field(default=None, init=False)
    """The last question that was answered, and the story it was about."""

    def run(self) -> int:
        """Take lines until there are no more."""
        self.console.print("Type a story; a sentence that ends in ? is a question. help: commands.")
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  (gives the prompt line editing and its history)
        show_story(self.sentences, self.console)
        typed = sys.stdin is not None and sys.stdin.isatty()
        while True:
            try:
                line = input("> " if typed else "").strip()
            except UnicodeDecodeError as error:
                raise UserError(f"what was typed is not text ({error.reason})") from error
            except (EOFError, RuntimeError):  # RuntimeError: there is no standard input at all
                return 0
            if not typed and line:  # what comes from a file or a pipe is seen beside its answers
                self.console.print(f"> {line}")
            if line.lower() in ("quit", "exit"):
                return 0
            try:
                self._obey(line)
            except UserError as error:
                self.console.print(str(error))

    def _obey(self, line: str) -> None:
        match line.lower().split():
            case []:
                pass
            case ["help" | "?"]:
                self.console.print(HELP)
            case ["why" | "why?"]:
                self._explain(full=False)
            case ["why", "full"]:
                self._explain(full=True)
            case ["new"]:
                self.sentences.clear()
                self.asked = None
            case ["undo"]:
                if not self.sentences:
                    raise UserError("There is no sentence to remove.")
                self.console.print(f"Removed: {self.sentences.pop()}")
            case ["story"]:
                show_story(self.sentences, self.console)
            case ["words"]:
                self.console.print(", ".join(self.reader.vocabulary.words[1:]))
            case ["word", *rest]:
                kinds = kinds_of([" ".join(rest)])
                self.reader.check_kinds(kinds)
                self.kinds |= kinds
            case _:
                for text in split_sentences(line):
                    self._take(text)

    def _take(self, text: str) -> None:
        before = self.reader.for_words(self.sentences, self.kinds).new_words
        after = self.reader.for_words([*self.sentences, text], self.kinds)
        for each in after.new_words[len(before) :]:
            self.console.print(f"{each} (if it is not: word {each.word}=thing, say)")
        if not is_question(text):
            after.check([text])
            self.sentences.append(text)
            return
        show_answers(self.reader.answer(self.sentences, text, kinds=self.kinds), self.console)
        self.asked = tuple(self.sentences), text
        if self.explaining is not None:
            self._explain(full=bool(self.explaining))
            return
        absent = self.reader.not_told(self.sentences, text, self.kinds)
        say_what_is_absent(absent, self.console)

    def _explain(self, *, full: bool) -> None:
        if self.asked is None:
            raise UserError("Nothing was asked yet.")
        story, question = self.asked
        found = trace(self.reader, story, question, kinds=self.kinds)
        show_explanation(found, self.console, full=full)


def show_story(sentences: Sequence[str], console: Console) -> None:
    """The sentences with their numbers."""
    for number, sentence in enumerate(sentences, start=1):
        console.print(f"{number:4}  {sentence}")


def show_answers(answers: Sequence[Answer], console: Console) -> None:
    """The likely answers, best first."""
    for place, answer in enumerate(answers):
        if place == 0 or answer.probability >= SHOWN:
            bar = "█" * round(30 * answer.probability)
            console.print(f"    {answer.word:<12} {answer.probability:7.2%} {bar}")


def say_what_is_absent(words: Sequence[str], console: Console) -> None:
    """Name whatever a question is about that the story never mentions."""
    if words:
        console.print(f"The story does not mention {', '.join(words)}.")


def show_explanation(found: Trace, console: Console, *, full: bool) -> None:
    """The reasons for an answer."""
    for line in explain(found, full=full):
        console.print(line, style=None if line.startswith(" ") else "bold")
