"""Things of all sizes that fit into each other, or do not."""

import random
from collections.abc import Callable, Sequence

from tpr_rnn.data.simulator.tasks.sizes import OTHERS, SMALLEST_FIRST
from tpr_rnn.data.simulator.wide.world import NOT_THERE, Asked, Cast, World, unknown

OFFICIAL = (*SMALLEST_FIRST, *OTHERS)


class Sizes(World):
    """Things of different sizes: those of task 18, others, or both, in any order."""

    def __init__(self, rng: random.Random, cast: Cast) -> None:
        super().__init__(rng, cast)
        things = [*dict.fromkeys((*rng.sample(OFFICIAL, rng.randint(1, 5)), *cast.things))]
        rng.shuffle(things)
        self._by_size = things[: rng.randint(2, 7)]
        self._left = rng.randint(1, 8)
        self._bigger: dict[str, set[str]] = {}

    def tell(self, *, goes_on: bool) -> str | None:
        """One thing fits into another."""
        if not self._left:
            return None
        self._left -= 1
        small, big = sorted(self.rng.sample(self._by_size, 2), key=self._by_size.index)
        self._bigger.setdefault(small, set()).add(big)
        self._bigger.setdefault(big, set())
        fits = f"The {small} fits inside the {big}."
        return self.rng.choice((fits, f"The {big} is bigger than the {small}."))

    @property
    def questions(self) -> Sequence[Callable[[], Asked | None]]:
        """Of two things."""
        return (*[self._fits] * 9, self._about_nobody)

    def _fits(self) -> Asked | None:
        if not self._bigger:
            return None
        small, big = self.rng.sample(list(self._bigger), 2)
        text = self._text(small, big)
        for one, other, answer in ((small, big, "yes"), (big, small, "no")):
            steps = self._steps(one, other)
            if steps:
                return Asked(text, answer, "sizes") if steps <= 2 else None
        return unknown(text)

    def _steps(self, small: str, big: str) -> int:
        """By how many facts one thing fits into another; 0: by none."""
        reached, steps = {small}, 0
        while reached:
            reached = {other for thing in reached for other in self._bigger[thing]}
            steps += 1
            if big in reached:
                return steps
        return 0

    def _text(self, small: str, big: str) -> str:
        return self.rng.choice(
            (f"Does the {small} fit in the {big}?", f"Is the {big} bigger than the {small}?")
        )

    def _about_nobody(self) -> Asked | None:
        thing = self.one_of(list(self._bigger))
        if thing is None:
            return None
        return unknown(self._text(*self.rng.sample((thing, self.cast.absent_thing), 2)), NOT_THERE)
