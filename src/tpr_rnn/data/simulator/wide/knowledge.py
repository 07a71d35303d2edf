"""What a listener knows of people who walk about and of things that they carry."""

from typing import Literal, NamedTuple


class Known(NamedTuple):
    """What a listener knows of where somebody or something is."""

    way: Literal["nothing", "at", "not", "either", "unsure"]
    """unsure: something may follow from what was told, but only by the way; nobody asks."""
    places: tuple[str, ...] = ()
    pronouns: int = 0
    """In how many sentences with "he" or "she" in a row it was told."""
    together: bool = False


NOTHING, UNSURE = Known("nothing"), Known("unsure")


class Gift(NamedTuple):
    """Somebody gave something to somebody."""

    giver: str
    thing: str
    receiver: str


class Knowledge:
    """What was told of all of them so far."""

    def __init__(self) -> None:
        self.where: dict[str, Known] = {}
        """Of everybody who was spoken of."""
        self.holder: dict[str, str] = {}
        """Of things that somebody has in hand."""
        self.put: dict[str, Known] = {}
        """Of things that were put down."""
        self.visited: dict[str, list[str | None]] = {}
        """Where people and things have been, as far as it was told; None: perhaps elsewhere."""
        self.had: dict[str, list[str]] = {}
        """What each had in hand at some time, in the order in which they first had it."""
        self.gifts: list[Gift] = []

    @property
    def people(self) -> list[str]:
        """Everybody who was spoken of."""
        return list(self.where)

    @property
    def things(self) -> list[str]:
        """Everything that was spoken of."""
        return [*self.holder, *self.put]

    def held(self, who: str) -> list[str]:
        """What somebody has in hand, in the order in which they first had it."""
        return [thing for thing in self.had.get(who, ()) if self.holder.get(thing) == who]

    def place_of(self, thing: str) -> Known:
        """Where a thing is that somebody holds, or has put down."""
        holder = self.holder.get(thing)
        return self.where[holder] if holder else self.put[thing]

    def mention(self, who: str) -> Known:
        """What is known of somebody who is spoken of."""
        return self.where.setdefault(who, NOTHING)

    def learn(self, who: str, known: Known) -> None:
        """Somebody, with all that they hold, is somewhere, or perhaps elsewhere."""
        self.where[who] = known
        place = known.places[0] if known.way == "at" else None
        self.note(who, place)
        for thing, holder in self.holder.items():
            if holder == who:
                self.note(thing, place)

    def note(self, who_or_thing: str, place: str | None) -> None:
        """Somebody or something has been there; None: perhaps elsewhere."""
        visited = self.visited.setdefault(who_or_thing, [])
        if not visited or visited[-1] != place:
            visited.append(place)

    def take(self, who: str, thing: str) -> None:
        """Somebody has a thing in hand from now on."""
        self.holder[thing] = who
        had = self.had.setdefault(who, [])
        if thing not in had:
            had.append(thing)

    def doubt(self, *who: str) -> None:
        """Something was handled that has been somewhere: who else handled things may be there."""
        for name, known in self.where.items():
            handled = known.way == "nothing" and name in self.had
            if handled or (name in who and known.way != "at"):
                self.where[name] = UNSURE
                self.note(name, None)
        for thing, known in self.put.items():
            if known.way == "nothing":
                self.put[thing] = UNSURE
                self.note(thing, None)
