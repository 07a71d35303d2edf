"""The bAbI format: numbered lines, a new story at every line 1.

    1 Mary moved to the bathroom.
    2 John went to the hallway.
    3 Where is Mary?<TAB>bathroom<TAB>1

A line with a tab is a question with its answer and the numbers of its supporting lines; a line
without one is a sentence, question mark or not (official Hindi stories state "Pallavi bhedia hai
?."). A question whose tabs an editor has made into spaces is refused.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tpr_rnn.data.story import Question, Story
from tpr_rnn.errors import UserError, quoted, shorten


def read_stories(path: Path) -> list[Story]:
    """Read a file of stories; a malformed line is an error that names file and line."""
    return parse_stories(_decoded_lines(path), name=str(path))


def read_plain_story(path: Path) -> list[str]:
    """Read one story to ask about: plain sentences, or lines with bAbI's numbers."""
    stories = parse_told(_decoded_lines(path), name=str(path))
    if len(stories) > 1:
        raise UserError(f"{path}: holds {len(stories)} stories; expected one to ask about")
    asked = [sentence for sentence in stories[0].sentences if sentence.endswith("?")]
    if asked:
        raise UserError(
            f"{path}: a question stands in the story, {quoted(asked[0])}; leave it out, "
            "and ask it with --question"
        )
    return list(stories[0].sentences)


def parse_told(lines: Iterable[str], name: str) -> list[Story]:
    """Parse lines of the bAbI format, or of one story in plain sentences."""
    stripped = [line.strip() for line in lines]
    told = [line for line in stripped if line]
    if not told:
        raise UserError(f"{name}: an empty story; expected a sentence a line")
    if told[0].split()[0].isdigit():
        return parse_stories(stripped, name)
    return [Story(tuple(sentence for line in told for sentence in split_sentences(line)), ())]


def split_sentences(line: str) -> list[str]:
    """The sentences and questions of a line, which end in . ! or ? (or in India's danda)."""
    return re.split(r"(?<=[.!?।])\s+(?=[^\s.!?।])", line)


def is_question(text: str) -> bool:
    """Whether somebody who types this asks it; what a model was trained on may end in ?. too."""
    return text.rstrip(" .").endswith("?")


def parse_stories(lines: Iterable[str], name: str) -> list[Story]:
    """Parse the lines of a file; `name` is what error messages call it."""
    stories: list[Story] = []
    sentences: list[str] = []
    questions: list[Question] = []
    position_of: dict[int, int] = {}  # line number within the story -> position of its sentence
    expected = 1
    tabs = False
    doubtful: tuple[str, str] | None = None  # place and text of the first that may be a question

    for line_number, line in enumerate(lines, start=1):
        line = line.strip()
        if not line:
            continue
        digits, _, text = line.partition(" ")
        # Anything after the number that is not a plain space (a tab, say) is no bAbI line.
        if not _is_number(digits):
            raise UserError(
                f"{name}:{line_number}: a line starts with its number and a space, "
                f"as in '1 Mary moved to the bathroom.'; this one is {quoted(line)}"
            )
        number = int(digits)
        if number == 1:
            if sentences or questions:
                stories.append(Story(tuple(sentences), tuple(questions)))
            sentences, questions, position_of = [], [], {}
        elif number != expected:
            raise UserError(
                f"{name}:{line_number}: the line is numbered {number}; "
                f"expected {expected}, or 1 for a new story"
            )
        expected = number + 1

        text = text.lstrip(" ")
        if not text:
            raise UserError(f"{name}:{line_number}: nothing stands after the number {number}")
        if "\t" in text:
            where = f"{name}:{line_number}"
            questions.append(_parse_question(text, len(sentences), position_of, where))
            tabs = True
        else:
            if _ANSWERED.search(text):
                raise _lost_tab(f"{name}:{line_number}", line)
            if doubtful is None and _ASKED.search(text):
                doubtful = f"{name}:{line_number}", line
            position_of[number] = len(sentences)
            sentences.append(text)

    if doubtful is not None and not tabs:
        raise _lost_tab(*doubtful)
    if sentences or questions:
        stories.append(Story(tuple(sentences), tuple(questions)))
    return stories


def format_story(story: Story) -> str:
    """Write a story in the official format; `parse_stories` reads it back."""
    lines: list[str] = []
    number_of: list[int] = []  # position of a sentence -> its line number
    questions = iter(story.questions)
    question = next(questions, None)
    for told in range(len(story.sentences) + 1):
        while question is not None and question.after == told:
            supports = " ".join(str(number_of[position]) for position in question.supports)
            lines.append(f"{len(lines) + 1} {question.text}\t{question.answer}\t{supports}")
            question = next(questions, None)
        if told < len(story.sentences):
            number_of.append(len(lines) + 1)
            lines.append(f"{len(lines) + 1} {story.sentences[told]}")
    return "\n".join(lines) + "\n"


# What an editor leaves of a question: its mark, an answer and the numbers of supporting lines.
_ANSWERED = re.compile(r"\?\s+\S+(\s+\d+)+$")
# In a file without any tab there is less to go by: a mark at the end, or words after it.
_ASKED = re.compile(r"\?(\s+\w.*)?$")


def _lost_tab(where: str, line: str) -> UserError:
    asked = shorten(line.partition("?")[0].rstrip())
    return UserError(
        f"{where}: a question without a tab and an answer; "
        f"expected '{asked}?<TAB>answer<TAB>supporting line numbers'"
    )


def _parse_question(text: str, after: int, position_of: dict[int, int], where: str) -> Question:
    asked, answer, *rest = (part.strip() for part in text.split("\t"))
    if not asked:
        raise UserError(f"{where}: an answer without a question")
    if not answer:
        raise UserError(f"{where}: the question {quoted(asked)} has no answer after its tab")
    if len(rest) > 1:
        raise UserError(
            f"{where}: a question has two tabs at most (question, answer, supports), "
            f"this line has {len(rest) + 1}"
        )
    supports = []
    for word in rest[0].split() if rest else ():
        position = position_of.get(int(word)) if _is_number(word) else None
        if position is None:
            raise UserError(
                f"{where}: the support {quoted(word)} points nowhere; "
                "it must be the number of an earlier sentence of the same story"
            )
        supports.append(position)
    return Question(asked, answer, after, tuple(supports))


def _decoded_lines(path: Path) -> Iterator[str]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from error
    # Split before decoding, so that a bad byte is named with its line. Only \n and \r\n end a
    # line: str.splitlines would also split at rarer separators that may stand inside a sentence.
    for line_number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UserError(
                f"{path}:{line_number}: not UTF-8 (byte {line[error.start]:#04x})"
            ) from error


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10
