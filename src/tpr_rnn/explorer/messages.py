"""What goes in and out of the HTTP interface; the OpenAPI description is made of these."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from tpr_rnn.analysis.explanation import Reasons
from tpr_rnn.analysis.schema import Answer, Trace
from tpr_rnn.explorer import limits
from tpr_rnn.memory import SPECS, Operation

Sentence = Annotated[str, Field(min_length=1, max_length=limits.CHARACTERS)]
Sentences = Annotated[list[Sentence], Field(max_length=limits.SENTENCES)]
OperationNames = Annotated[list[Operation], Field(min_length=1, max_length=len(SPECS))]


class Message(BaseModel):
    """The base of all messages: what is not described is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Problem(Message):
    """Why a request was refused."""

    error: str
    """What is wrong, and what would be right."""


class Asking(Message):
    """A story and a question about it."""

    story: Sentences
    """The sentences, in order."""
    question: Sentence
    operations: OperationNames | None = None
    """Use only these operations of the memory; absent: all that the model was trained with."""
    top: int = Field(5, ge=1, le=limits.ANSWERS)
    """How many answers to give."""


class Answered(Message):
    """The likeliest answers to a question."""

    answer: str
    """The likeliest one."""
    answers: tuple[Answer, ...]
    """Likeliest first."""


class Tracing(Message):
    """A story, and perhaps a question about it, to follow through the memory."""

    story: Sentences
    question: Sentence | None = None
    operations: OperationNames | None = None
    """Use only these operations of the memory; absent: all that the model was trained with."""


class Traced(Message):
    """What happened in the memory."""

    trace: Trace
    """Every number; docs/analysis.md says how to read it."""
    names: tuple[str, ...]
    """What to call each node of the trace."""
    why: Reasons | None
    """Why the question is answered so, in words; null without a question."""


class KnownQuestion(Message):
    """A question, with its true answer if that is known."""

    text: str
    answer: str | None
    """As the model would say it."""
    after: int
    """How many sentences were told before it was asked."""
    supports: tuple[int, ...]
    """The sentences that lead to the answer, counted from 0."""


class KnownStory(Message):
    """A story and the questions that were asked along the way."""

    sentences: tuple[str, ...]
    questions: tuple[KnownQuestion, ...]


class Generated(KnownStory):
    """A story from the simulator."""

    task: int
    seed: int


class Pasting(Message):
    """A text with stories in the bAbI format, or with one in plain sentences."""

    text: str = Field(max_length=limits.TEXT)


class Parsed(Message):
    """The stories of a text."""

    stories: tuple[KnownStory, ...]


class Checking(Message):
    """A story, and perhaps a question about it, as they are being typed."""

    story: Sentences
    question: Sentence | None = None


class UnknownWord(Message):
    """A word that the model has never seen."""

    word: str
    nearest: tuple[str, ...]
    """Known words that are spelt like it."""


class Checked(Message):
    """What the model has never seen."""

    unknown: tuple[UnknownWord, ...]
    """In the order in which they come."""


class About(Message):
    """A story to ask about."""

    story: Sentences


class Suggested(Message):
    """Questions that fit a story."""

    questions: tuple[str, ...]


class Task(Message):
    """A task of the simulator."""

    number: int
    name: str
    known: bool
    """Whether the model knows all of its words."""


class Limits(Message):
    """How much may be sent at a time."""

    sentences: int = limits.SENTENCES
    characters: int = limits.CHARACTERS
    text: int = limits.TEXT
    body_bytes: int = limits.BODY


class OperationShown(Message):
    """An operation of the memory: what it is called, what it does, and how to draw it."""

    name: Operation
    title: str
    purpose: str
    """What it does."""
    meaning: str
    """What stands in the memory because of it."""
    colour: str
    colour_on_dark: str
    line: Literal["solid", "dashed", "dotted"]
    source: str
    """The part of a sentence that is the entity of its key."""
    relations: tuple[str, ...]
    """The parts of a sentence of which the relation of its key is made."""
    needs: tuple[Operation, ...]
    """It cannot be used without these."""


class Operations(Message):
    """The memory's operations."""

    operations: tuple[OperationShown, ...]
    """In the order of the memory's table; a model may have been trained with fewer."""


class Described(Message):
    """A model."""

    name: str
    version: str
    """Of tpr-rnn."""
    operations: tuple[Operation, ...]
    """Memory operations that it was trained with."""
    parameters: int
    entity_size: int
    relation_size: int
    max_sentences: int
    """It reads the last so many sentences of a story."""
    sentence_words: int
    """Words that it reads of a sentence at most; punctuation counts."""
    words: tuple[str, ...]
    """All that it knows."""
    tasks: tuple[Task, ...]
    limits: Limits
