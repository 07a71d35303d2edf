"""People who feel something, go somewhere for it and get something there."""

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tpr_rnn.data.simulator import english
from tpr_rnn.data.simulator.tasks.motives import MOTIVES, Motive
from tpr_rnn.data.simulator.wide.world import NOT_THERE, Asked, Cast, World, unknown
from tpr_rnn.data.simulator.words import GOT


class Wish(NamedTuple):
    """What was told of somebody's motive."""

    motive: Motive
    felt: bool = False
    went: bool = False
    got: bool = False


class Motives(World):
    """Some tell how they feel, and some just go."""

    def __init__(self, rng: random.Random, cast: Cast) -> None:
        super().__init__(rng, cast)
        self._wishes = {name: Wish(rng.choice(MOTIVES)) for name in cast.names}
        self._silent = {name for name in cast.names if rng.random() < 0.15}

    def tell(self, *, goes_on: bool) -> str | None:
        """Somebody's next step."""
        left = [name for name, wish in self._wishes.items() if not wish.got]
        if not left:
            return None
        name = self.rng.choice(left)
        wish = self._wishes[name]
        feeling, place, thing = wish.motive
        if not wish.felt and not wish.went and name not in self._silent:
            self._wishes[name] = wish._replace(felt=True)
            return f"{name} is {feeling}."
        if not wish.went:
            self._wishes[name] = wish._replace(went=True)
            return english.going(self.rng, name, place) + "."
        self._wishes[name] = wish._replace(got=True)
        there = " there" if self.chance(0.6) else ""
        return f"{name} {self.rng.choice(GOT)} the {thing}{there}."

    @property
    def questions(self) -> Sequence[Callable[[], Asked | None]]:
        """Of feelings, and of what comes of them."""
        return (*[self._will] * 3, *[self._why] * 6, self._where, self._about_nobody)

    def _will(self) -> Asked | None:
        name, wish = self.rng.choice(list(self._wishes.items()))
        if wish.felt and not wish.went:
            return Asked(f"Where will {name} go?", wish.motive.place, "motives")
        return None

    def _why(self) -> Asked | None:
        name, wish = self.rng.choice(list(self._wishes.items()))
        feeling, place, thing = wish.motive
        texts = [f"Why did {name} go to the {place}?"] if wish.went else []
        texts += [f"Why did {name} get the {thing}?"] if wish.got else []
        text = self.one_of(texts)
        if text is None:
            return None
        return Asked(text, feeling, "motives") if wish.felt else unknown(text)

    def _where(self) -> Asked | None:
        name, wish = self.rng.choice(list(self._wishes.items()))
        text = f"Where is {name}?"
        if wish.went:
            return Asked(text, wish.motive.place, "where somebody is")
        return unknown(text) if wish.felt else None

    def _about_nobody(self) -> Asked:
        name, motive = self.cast.absent_name, self.rng.choice(MOTIVES)
        texts = (f"Where will {name} go?", f"Why did {name} go to the {motive.place}?")
        return unknown(self.rng.choice(texts), NOT_THERE)
