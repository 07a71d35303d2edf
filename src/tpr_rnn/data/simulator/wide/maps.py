"""Rooms north of each other and shapes beside each other, on a grid."""

import random
from abc import abstractmethod
from collections.abc import Callable, Sequence

from tpr_rnn.data.simulator.maps import DIRECTIONS, opposite
from tpr_rnn.data.simulator.tasks.places import RELATIONS
from tpr_rnn.data.simulator.wide.world import NOT_THERE, Asked, Cast, World, unknown

STEPS = {"north": (0, 1), "east": (1, 0), "south": (0, -1), "west": (-1, 0)}
SHAPES = (
    "triangle",
    *(f"{colour} {shape}" for shape in ("square", "rectangle", "sphere")
      for colour in ("pink", "blue", "red", "yellow")),
)  # fmt: skip

NEIGHBOUR = "one step"

Cell = tuple[int, int]


class Grid(World):
    """Things in cells of a grid; some of those that are neighbours are told as such."""

    def __init__(self, rng: random.Random, cast: Cast, things: Sequence[str]) -> None:
        super().__init__(rng, cast)
        self._cell: dict[str, Cell] = {things[0]: (0, 0)}
        self._left: list[tuple[str, str, str]] = []
        """One thing, its direction, and the other thing, that it has this direction from."""
        line = rng.random() < 0.3
        direction = rng.choice(DIRECTIONS)
        for thing in things[1:]:
            beside, way = thing, direction
            while beside == thing:
                beside = rng.choice(list(self._cell))
                if not line:
                    way = rng.choice(DIRECTIONS)
                if _step(self._cell[beside], way) in self._cell.values():
                    beside = thing
            self._cell[thing] = _step(self._cell[beside], way)
            self._left.append((thing, way, beside))
        told = {frozenset((one, other)) for one, _, other in self._left}
        for one, cell in self._cell.items():
            for other, way in self._around(cell).items():
                if frozenset((one, other)) not in told and rng.random() < 0.15:
                    told.add(frozenset((one, other)))
                    self._left.append((other, way, one))
        if rng.random() < 0.6:
            rng.shuffle(self._left)
        self._neighbours: dict[str, dict[str, str]] = {}
        """Of things that were told of: what lies in which direction."""

    def tell(self, *, goes_on: bool) -> str | None:
        """One pair of neighbours that was not told yet, from either side."""
        if not self._left:
            return None
        one, way, other = self._left.pop(0)
        if self.chance(0.5):
            one, way, other = other, opposite(way), one
        self._neighbours.setdefault(other, {})[way] = one
        self._neighbours.setdefault(one, {})[opposite(way)] = other
        return self.sentence(one, way, other)

    @abstractmethod
    def sentence(self, one: str, way: str, other: str) -> str:
        """One thing lies in a direction of another."""

    def ways(self, start: str, end: str) -> list[tuple[str, ...]]:
        """The shortest ways, by what was told, if they have one step or two."""
        around = self._neighbours[start]
        direct: list[tuple[str, ...]] = [(way,) for way, thing in around.items() if thing == end]
        return direct or [
            (first, second)
            for first, between in around.items()
            for second, thing in self._neighbours[between].items()
            if thing == end
        ]

    def connected(self, one: str, other: str) -> bool:
        """Whether what was told leads from one thing to another, by any number of steps."""
        seen, todo = {one}, [one]
        while todo:
            for thing in self._neighbours[todo.pop()].values():
                if thing not in seen:
                    seen.add(thing)
                    todo.append(thing)
        return other in seen

    def pair(self) -> tuple[str, str] | None:
        """Two things that were told of, near ones as often as all others."""
        if not self._neighbours:
            return None
        start = self.rng.choice(list(self._neighbours))
        end = self.rng.choice([thing for thing in self._neighbours if thing != start])
        if self.chance(0.6):
            between = self.rng.choice(list(self._neighbours[start].values()))
            near = [thing for thing in self._neighbours[between].values() if thing != start]
            end = self.rng.choice(near or [between])
        return start, end

    def _around(self, cell: Cell) -> dict[str, str]:
        thing_in = {where: thing for thing, where in self._cell.items()}
        cells = {way: _step(cell, way) for way in DIRECTIONS}
        return {thing_in[there]: way for way, there in cells.items() if there in thing_in}


class Rooms(Grid):
    """Rooms, and the ways between them."""

    def __init__(self, rng: random.Random, cast: Cast) -> None:
        super().__init__(rng, cast, cast.places)

    def sentence(self, one: str, way: str, other: str) -> str:
        """As in tasks 4 and 19."""
        return f"The {one} is {way} of the {other}."

    @property
    def questions(self) -> Sequence[Callable[[], Asked | None]]:
        """Of neighbours and ways."""
        return (*[self._next] * 6, *[self._way] * 6, self._about_nobody)

    def _next(self) -> Asked | None:
        place = self.one_of(list(self._neighbours))
        if place is None:
            return None
        around = self._neighbours[place]
        way = self.rng.choice(DIRECTIONS if self.chance(0.2) else list(around))
        text = self._next_text(place, way)
        if way not in around:
            return None if self._beyond(place, way) else unknown(text)
        end = len(around) == 1 and len(self._neighbours) > 2
        return Asked(text, around[way], "room at the end" if end else "next room")

    def _next_text(self, place: str, way: str) -> str:
        return self.rng.choice(
            (f"What is {way} of the {place}?", f"What is the {place} {opposite(way)} of?")
        )

    def _beyond(self, place: str, way: str) -> bool:
        """Whether some room that was told of lies further in a direction, if not next to this."""
        x, y = STEPS[way]

        def far(room: str) -> int:
            return self._cell[room][0] * x + self._cell[room][1] * y

        return any(far(room) > far(place) for room in self._neighbours)

    def _way(self) -> Asked | None:
        pair = self.pair()
        if pair is None:
            return None
        start, end = pair
        ways = self.ways(start, end)
        text = f"How do you go from the {start} to the {end}?"
        if len(ways) == 1:
            steps = ways[0]
            kind = NEIGHBOUR if len(steps) == 1 else "two steps"
            if len(steps) == 2 and steps[0] == steps[1]:
                kind = "rooms in a line"
            return Asked(text, ",".join(step[0] for step in steps), kind)
        return None if ways or self.connected(start, end) else unknown(text)

    def _about_nobody(self) -> Asked | None:
        place, absent = self.one_of(list(self._neighbours)), self.cast.absent_place
        if place is None:
            return None
        start, end = self.rng.sample((place, absent), 2)
        text = self._next_text(absent, self.rng.choice(DIRECTIONS))
        if self.chance(0.5):
            text = f"How do you go from the {start} to the {end}?"
        return unknown(text, NOT_THERE)


class Shapes(Grid):
    """Shapes above, below, left and right of each other."""

    def __init__(self, rng: random.Random, cast: Cast) -> None:
        *shapes, self._absent = rng.sample(SHAPES, rng.randint(3, 6))
        super().__init__(rng, cast, shapes)

    def sentence(self, one: str, way: str, other: str) -> str:
        """As in task 17."""
        return f"The {one} is {RELATIONS[way]} the {other}."

    @property
    def questions(self) -> Sequence[Callable[[], Asked | None]]:
        """Of two shapes."""
        return (*[self._side] * 9, self._about_nobody)

    def _side(self) -> Asked | None:
        pair = self.pair()
        if pair is None:
            return None
        one, other = pair
        ways = self.ways(other, one)
        x, y = (
            here - there for here, there in zip(self._cell[one], self._cell[other], strict=True)
        )
        # What lies level with another is neither above nor below it; nobody asks for that.
        sides = [way for way, (right, up) in STEPS.items() if right * x + up * y]
        side = self.rng.choice(sides)
        text = f"Is the {one} {RELATIONS[side]} the {other}?"
        if ways:
            right, up = STEPS[side]
            answer = "yes" if right * x + up * y > 0 else "no"
            return Asked(text, answer, "left of, above")
        return None if self.connected(one, other) else unknown(text)

    def _about_nobody(self) -> Asked | None:
        shape = self.one_of(list(self._neighbours))
        if shape is None:
            return None
        one, other = self.rng.sample((shape, self._absent), 2)
        side = self.rng.choice(list(RELATIONS.values()))
        return unknown(f"Is the {one} {side} the {other}?", NOT_THERE)


def _step(cell: Cell, way: str) -> Cell:
    return cell[0] + STEPS[way][0], cell[1] + STEPS[way][1]
