"""A story with questions about it."""

from typing import NamedTuple


class Question(NamedTuple):
    """A question, asked after the first `after` sentences of its story."""

    text: str
    answer: str
    after: int
    supports: tuple[int, ...] = ()
    """Positions (from 0) of the supporting sentences; for analysis, never shown to a model."""


class Story(NamedTuple):
    """The sentences of a story in order, and the questions asked along the way."""

    sentences: tuple[str, ...]
    questions: tuple[Question, ...]
