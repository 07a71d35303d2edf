"""What holds for a kind of animal holds for its members, and the other way round."""

import random
from collections.abc import Callable, Sequence

from tpr_rnn.data.simulator.tasks.kinds import ANIMALS, COLOURS
from tpr_rnn.data.simulator.tasks.kinds import PLURALS as OFFICIAL_PLURALS
from tpr_rnn.data.simulator.wide.world import NOT_THERE, Asked, Cast, World, unknown

PLURALS = OFFICIAL_PLURALS | {animal: f"{animal}s" for animal in ANIMALS}


class Kinds(World):
    """Each name is an animal; animals have fears and colours."""

    elsewhere = ("Where is {}?", "Where will {} go?")

    def __init__(self, rng: random.Random, cast: Cast) -> None:
        super().__init__(rng, cast)
        animals = rng.sample(list(PLURALS), rng.randint(1, 4))
        kind_of = {name: rng.choice(animals) for name in cast.names}
        with_fears, with_colours = rng.choice(((True, False), (False, True), (True, True)))
        coloured = {animal: rng.choice(COLOURS) for animal in animals}
        # In some stories animals of a kind differ: then only what was told of one itself counts.
        alike = rng.random() < 0.7
        self._left: list[tuple[str, str, str]] = []
        for name, kind in kind_of.items():
            if not self._left or rng.random() < 0.9:
                self._left.append(("kind", name, kind))
            if with_colours and rng.random() < 0.6:
                self._left.append(
                    ("colour", name, coloured[kind] if alike else rng.choice(COLOURS))
                )
        if with_fears:
            for animal in animals:
                if rng.random() < 0.9:
                    feared = rng.choice([other for other in PLURALS if other != animal])
                    self._left.append(("fear", animal, feared))
        rng.shuffle(self._left)
        self._with_fears, self._with_colours = with_fears, with_colours
        self._kinds: dict[str, str] = {}
        self._colours: dict[str, str] = {}
        self._fears: dict[str, str] = {}

    def tell(self, *, goes_on: bool) -> str | None:
        """One of the facts that were not told yet."""
        if not self._left:
            return None
        what, whose, value = self._left.pop()
        if what == "kind":
            self._kinds[whose] = value
            return f"{whose} is a {value}."
        if what == "colour":
            self._colours[whose] = value
            return f"{whose} is {value}."
        self._fears[whose] = value
        return f"{PLURALS[whose]} are afraid of {PLURALS[value]}."

    @property
    def questions(self) -> Sequence[Callable[[], Asked | None]]:
        """Of fears, of colours, or of both."""
        fears = [self._fear] * 9 if self._with_fears else []
        colours = [self._colour] * 9 if self._with_colours else []
        return (*fears, *colours, self._about_nobody, self._about_else)

    def _fear(self) -> Asked | None:
        name = self.one_of(list(self._kinds or self._colours))
        if name is None:
            return None
        text = f"What is {name} afraid of?"
        feared = self._fears.get(self._kinds.get(name, ""))
        return Asked(text, feared, "what somebody is afraid of") if feared else unknown(text)

    def _colour(self) -> Asked | None:
        others = [name for name in self._kinds if name not in self._colours]
        name = self.one_of(others if self.chance(0.6) else list(self._colours))
        if name is None:
            return None
        text = f"What color is {name}?"
        if name in self._colours:
            return Asked(text, self._colours[name], "colour told directly")
        kind = self._kinds[name]
        like = {self._colours.get(other, "") for other, its in self._kinds.items() if its == kind}
        like.discard("")
        if len(like) > 1:
            return None
        return Asked(text, like.pop(), "colour of its kind") if like else unknown(text)

    def _about_else(self) -> Asked | None:
        return self.about_else(list(self._kinds))

    def _about_nobody(self) -> Asked:
        name = self.cast.absent_name
        texts = [f"What is {name} afraid of?"] if self._with_fears else []
        texts += [f"What color is {name}?"] if self._with_colours else []
        return unknown(self.rng.choice(texts), NOT_THERE)
