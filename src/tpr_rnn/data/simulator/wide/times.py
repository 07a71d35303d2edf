"""People who walk at certain times of day, told in any order."""

import random
from collections.abc import Callable, Sequence

from tpr_rnn.data.simulator import english
from tpr_rnn.data.simulator.wide.world import NOT_THERE, Asked, Cast, World, unknown
from tpr_rnn.data.simulator.words import TIMES


class Times(World):
    """Each walks at most once at a time of day, and then to a place of its own if there is one."""

    def __init__(self, rng: random.Random, cast: Cast) -> None:
        super().__init__(rng, cast)
        self._told: dict[str, dict[int, str]] = {}
        self._left = []
        for name in cast.names:
            places = rng.sample(cast.places, min(len(cast.places), len(TIMES)))
            times = rng.sample(range(len(TIMES)), rng.randint(1, len(places)))
            self._left += [(name, time, place) for time, place in zip(times, places, strict=False)]
        rng.shuffle(self._left)

    def tell(self, *, goes_on: bool) -> str | None:
        """One of the walks that were not told yet."""
        if not self._left:
            return None
        name, number, place = self._left.pop()
        self._told.setdefault(name, {})[number] = place
        time, going = TIMES[number], english.going(self.rng, name, place)
        return self.rng.choice((f"{time} {going}.", f"{going} {time}."))

    @property
    def questions(self) -> Sequence[Callable[[], Asked | None]]:
        """Where somebody was before."""
        return (*[self._before] * 9, self._about_nobody)

    def _before(self) -> Asked | None:
        name = self.one_of(list(self._told))
        if name is None:
            return None
        told = self._told[name]
        times = sorted(told)
        number = self.rng.randrange(len(times))
        if number == 0 and self.chance(0.7):
            return None
        text = f"Where was {name} before the {told[times[number]]}?"
        if number == 0:
            return unknown(text)
        return Asked(text, told[times[number - 1]], "times of day")

    def _about_nobody(self) -> Asked:
        place = self.rng.choice(self.cast.places)
        return unknown(f"Where was {self.cast.absent_name} before the {place}?", NOT_THERE)
