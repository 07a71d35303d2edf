"""A story in the making."""

import random
from collections.abc import Iterable
from typing import NamedTuple

from tpr_rnn.data.simulator.options import Cast
from tpr_rnn.data.story import Question, Story

# Official stories end with their fifth question, unless their task has a shape of its own.
QUESTIONS = 5


class Asked(NamedTuple):
    """A question that can be asked, with its answer and the positions of its supports."""

    question: str
    answer: str
    supports: tuple[int, ...]


class Scene:
    """Where a task tells its sentences and asks its questions: a cast, and chance."""

    def __init__(self, rng: random.Random, cast: Cast) -> None:
        self.rng = rng
        self.cast = cast
        self._sentences: list[str] = []
        self._questions: list[Question] = []

    @property
    def told(self) -> int:
        """How many sentences were told so far."""
        return len(self._sentences)

    def say(self, sentence: str) -> int:
        """Tell a sentence; returns its position, for the supports of a later question."""
        self._sentences.append(sentence[0].upper() + sentence[1:])
        return len(self._sentences) - 1

    def ask(self, question: str, answer: str, supports: Iterable[int]) -> None:
        """Ask a question about what was told so far."""
        self._questions.append(Question(question, answer, self.told, tuple(supports)))

    def goes_on(self) -> bool:
        """Whether the story should go on, by the number of questions or the length wished for."""
        if self.cast.story_length is None:
            return len(self._questions) < QUESTIONS
        return not self._questions or self._questions[-1].after < self.cast.story_length

    def story(self) -> Story:
        """What was told and asked."""
        return Story(tuple(self._sentences), tuple(self._questions))
