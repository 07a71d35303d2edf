"""A world of which wide stories tell: it knows what was told, and asks what follows from it."""

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple, TypeVar

from tpr_rnn.data.simulator.wide.words import UNKNOWN

T = TypeVar("T")

NOT_TOLD = "unknown: not told"
NOT_THERE = "unknown: not in the story"


class Cast(NamedTuple):
    """Who and what a world has, and what does not turn up anywhere in the story."""

    names: tuple[str, ...]
    things: tuple[str, ...]
    places: tuple[str, ...]
    pronouns: dict[str, str]
    absent_name: str
    absent_thing: str
    absent_place: str
    alone: bool = True
    """Whether no other world of the story tells of the same people."""


class Asked(NamedTuple):
    """A question that can be asked now, with its answer."""

    text: str
    answer: str
    kind: str
    """What it asks for, as the table of the suite calls it."""


class World(ABC):
    """Tells what happens in it, sentence by sentence, and asks what a listener can know."""

    elsewhere: ClassVar[tuple[str, ...]] = ()
    """Questions about somebody that other worlds answer, and this one never does."""

    def __init__(self, rng: random.Random, cast: Cast) -> None:
        self.rng, self.cast = rng, cast

    @abstractmethod
    def tell(self, *, goes_on: bool) -> str | None:
        """The next sentence; None: there is nothing left to tell.

        Args:
            goes_on: whether the last sentence of the story was this world's, so that "he" is clear.
        """

    @property
    @abstractmethod
    def questions(self) -> Sequence[Callable[[], Asked | None]]:
        """Each draws a question of its kind, or None where there is none."""

    def ask(self) -> Asked | None:
        """A question that can be asked now, if one was found."""
        return self.rng.choice(self.questions)()

    def about_else(self, names: Sequence[str]) -> Asked | None:
        """Something about one of these people that no world of the story tells."""
        if not (self.cast.alone and names):
            return None
        return unknown(self.rng.choice(self.elsewhere).format(self.rng.choice(names)))

    def chance(self, share: float) -> bool:
        """Whether something of so large a share happens."""
        return self.rng.random() < share

    def one_of(self, choices: Sequence[T]) -> T | None:
        """Any of them, if there are any."""
        return self.rng.choice(choices) if choices else None


def unknown(text: str, kind: str = NOT_TOLD) -> Asked:
    """A question that nothing told answers."""
    return Asked(text, UNKNOWN, kind)
