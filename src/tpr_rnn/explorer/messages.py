"""Requests and responses of the HTTP interface; the OpenAPI description comes from them."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from tpr_rnn.analysis.explanation import Reasons
from tpr_rnn.analysis.schema import Answer, Trace
from tpr_rnn.explorer import limits
from tpr_rnn.memory import SPECS, Operation

Sentence = Annotated[str, Field(min_length=1, max_length=limits.CHARACTERS)]
Sentences = Annotated[list[Sentence], Field(max_length=limits.SENTENCES)]
NounKind = Literal["name", "thing", "place"]
Kinds = Annotated[dict[str, NounKind], Field(max_length=limits.SENTENCES)]
Supports = Annotated[list[Annotated[int, Field(ge=0)]], Field(max_length=limits.SENTENCES)]
OperationNames = Annotated[list[Operation], Field(min_length=1, max_length=len(SPECS))]
ModelName = Annotated[str, Field(max_length=limits.CHARACTERS)]


class Message(BaseModel):
    """The base of all messages: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Problem(Message):
    """Why a request was refused."""

    error: str
    """What is wrong, and what would be right."""


class AnswerRequest(Message):
    """A story and a question about it."""

    story: Sentences
    """The sentences, in order."""
    question: Sentence
    model: ModelName = ""
    """One of the models beside the explored one; empty: that one."""
    operations: OperationNames | None = None
    """Use only these operations of the memory; absent: all that the model was trained with."""
    top: int = Field(5, ge=1, le=limits.ANSWERS)
    """How many answers to return."""
    kinds: Kinds = Field(default_factory=dict)
    """What new words are, where their sentences do not tell it."""


class AnswerResponse(Message):
    """The most likely answers to a question."""

    answer: str
    """The most likely one."""
    answers: tuple[Answer, ...]
    """Most likely first."""
    not_told: tuple[str, ...]
    """People, things and places of the question that the story never mentions."""


class TraceRequest(Message):
    """A story, and perhaps a question about it, to follow through the memory."""

    story: Sentences
    question: Sentence | None = None
    model: ModelName = ""
    """One of the models beside the explored one; empty: that one."""
    operations: OperationNames | None = None
    """Use only these operations of the memory; absent: all that the model was trained with."""
    kinds: Kinds = Field(default_factory=dict)
    """What new words are, where their sentences do not tell it."""
    supports: Supports = Field(default_factory=list)
    """The sentences that support the right answer, counted from 0, where they are known: what of
    them the model does without is then said."""


class TraceResponse(Message):
    """What happened in the memory."""

    trace: Trace
    """Every number; docs/analysis.md says how to read it."""
    names: tuple[str, ...]
    """A name for each node of the trace."""
    why: Reasons | None
    """The reasons for the answer, in words; null without a question."""
    not_told: tuple[str, ...]
    """People, things and places of the question that the story never mentions."""
    expected: tuple[str, ...] | None
    """The words that answer questions of this kind; null if the simulator asks none like it."""


class KnownQuestion(Message):
    """A question, with its correct answer if that is known."""

    text: str
    answer: str | None
    """In the form in which the model answers."""
    after: int
    """How many sentences stand before it."""
    supports: tuple[int, ...]
    """The sentences that support the answer, counted from 0."""


class KnownStory(Message):
    """A story and its questions."""

    sentences: tuple[str, ...]
    questions: tuple[KnownQuestion, ...]


class StoryResponse(KnownStory):
    """A story from the simulator."""

    task: str
    seed: int


class GalleryStory(KnownStory):
    """A story that shows one idea."""

    title: str
    look_for: str
    """What to look for."""


class GalleryResponse(Message):
    """Stories to look at."""

    stories: tuple[GalleryStory, ...]
    """Those that the model can read and answers right."""


class ParseRequest(Message):
    """A text with stories in the bAbI format, or one story in plain sentences."""

    text: str = Field(max_length=limits.TEXT)


class ParseResponse(Message):
    """The stories of a text."""

    stories: tuple[KnownStory, ...]


class CheckRequest(Message):
    """A story, and perhaps a question about it, as they are being typed."""

    story: Sentences
    question: Sentence | None = None
    kinds: Kinds = Field(default_factory=dict)
    """What new words are, where their sentences do not tell it."""


class UnknownWord(Message):
    """A word that the model cannot read."""

    word: str
    nearest: tuple[str, ...]
    """Known words of similar spelling."""


class NewWord(Message):
    """A word that the model has never seen, and what it was taken for."""

    word: str
    kind: NounKind
    like: str
    """A known word of this kind."""


class CheckResponse(Message):
    """The words that the model has never seen, in their order in the text."""

    unknown: tuple[UnknownWord, ...]
    """Those that it cannot read."""
    new_words: tuple[NewWord, ...]
    """Those that it reads as names, things and places."""


class QuestionsRequest(Message):
    """A story to ask about."""

    story: Sentences
    kinds: Kinds = Field(default_factory=dict)
    """What new words are, where their sentences do not tell it."""


class QuestionsResponse(Message):
    """Questions that fit a story."""

    questions: tuple[str, ...]
    """Those that the model can answer: with a likely word, of the kind that is asked for."""


class Task(Message):
    """A task of the simulator."""

    name: str
    title: str
    known: bool
    """Whether the model knows all of its words."""


class Limits(Message):
    """How much one request may hold."""

    sentences: int = limits.SENTENCES
    characters: int = limits.CHARACTERS
    text: int = limits.TEXT
    body_bytes: int = limits.BODY


class OperationShown(Message):
    """An operation of the memory: its name, what it does, and how to draw it."""

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


class OperationsResponse(Message):
    """The memory's operations."""

    operations: tuple[OperationShown, ...]
    """In the order of the memory's table; a model may have been trained with fewer."""


class ModelBeside(Message):
    """A model to compare with."""

    name: str
    operations: tuple[Operation, ...]
    """Memory operations that it was trained with."""


class ModelResponse(Message):
    """A model."""

    name: str
    version: str
    """Of tpr-rnn."""
    unit: Literal["sentence", "word"]
    """What updates its memory once: the sentences of a trace are these."""
    operations: tuple[Operation, ...]
    """Memory operations that it was trained with."""
    parameters: int
    entity_size: int
    relation_size: int
    max_sentences: int | None
    """It reads the last so many sentences of a story; null: all."""
    sentence_words: int
    """Words that it reads of a sentence at most; punctuation counts."""
    words: tuple[str, ...]
    """All that it knows."""
    tasks: tuple[Task, ...]
    beside: tuple[ModelBeside, ...]
    """Others, to see side by side with it."""
    limits: Limits
