"""Maps of neighbouring things: north, east, south and west of each other."""

import random
from typing import NamedTuple

# Clockwise, so that two steps further stands the opposite one.
DIRECTIONS = ("north", "east", "south", "west")


def opposite(direction: str) -> str:
    """The direction one came from."""
    return DIRECTIONS[(DIRECTIONS.index(direction) + 2) % 4]


class Edge(NamedTuple):
    """`second` lies in a direction of `first`."""

    first: str
    direction: str
    second: str


class Map:
    """A map that grows like a tree: each thing but the first is put beside an earlier one."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._neighbours: dict[str, dict[str, str]] = {}

    def put(self, thing: str, direction: str, beside: str) -> bool:
        """Put a thing in a direction of another; False if something is known to be there."""
        neighbours = self._neighbours.setdefault(beside, {})
        if direction in neighbours:
            return False
        neighbours[direction] = thing
        self._neighbours[thing] = {opposite(direction): beside}
        return True

    def tour(self) -> list[Edge]:
        """All neighbours in random order, each once and from either side.

        A thing and then one of its neighbours are drawn until all were seen, so things with few
        neighbours tend to come first, both in the tour and within an edge. This is how official
        stories describe a map.
        """
        things = list(self._neighbours)
        seen: list[frozenset[str]] = []
        edges: list[Edge] = []
        while len(edges) < len(things) - 1:
            first = self._rng.choice(things)
            direction = self._rng.choice(list(self._neighbours[first]))
            second = self._neighbours[first][direction]
            if frozenset((first, second)) not in seen:
                seen.append(frozenset((first, second)))
                edges.append(Edge(first, direction, second))
        return edges
