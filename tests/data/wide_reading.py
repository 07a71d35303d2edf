"""A reader of wide stories: answers any question about any of their worlds from the text alone.

Like `simulator_reading`, it shares nothing with the simulator. It answers with None where the
rules of meaning (docs/wide.md) leave more than one answer open.
"""

import itertools
import re
from collections.abc import Sequence

from data.simulator_reading import MOTIVES, NUMBERS, SIDES, STEPS, THEN, TIMES, placed, step

UNKNOWN = "unknown"
WORD = r"([\w-]+)"
WENT = r"(?:went back|went|journeyed|travelled|moved) to the"
WHEN = "|".join(TIMES)
SINGULAR = {"mice": "mouse", "wolves": "wolf", "sheep": "sheep"}
COLOURS = ("gray", "white", "yellow", "green")
NORTH = "|".join(STEPS)
ABOVE = "|".join(SIDES)


class Reading:
    """All that a story says."""

    def __init__(self, sentences: Sequence[str]) -> None:
        self.people: set[str] = set()
        self.where: dict[str, tuple[str, ...]] = {}  # ("at", place), ("not", place), ("either", ..)
        self.visited: dict[str, list[str | None]] = {}  # None: perhaps elsewhere
        self.dated: dict[str, dict[int, str]] = {}
        self.holder: dict[str, str] = {}
        self.put: dict[str, tuple[str, ...]] = {}
        self.had: dict[str, list[str]] = {}
        self.gifts: list[tuple[str, str, str]] = []
        self.kinds: dict[str, str] = {}
        self.qualities: dict[str, str] = {}  # colours and feelings
        self.fears: dict[str, str] = {}
        self.rooms: list[tuple[str, tuple[int, int], str]] = []
        self.shapes: list[tuple[str, tuple[int, int], str]] = []
        self.bigger: dict[str, set[str]] = {}
        self.meant: list[str] = []
        for sentence in sentences:
            self.hear(sentence.lower().removesuffix("."))

    def hear(self, text: str) -> None:
        for pattern, take in SENTENCES:
            if found := re.fullmatch(pattern, text):
                take(self, *found.groups())
                return
        raise AssertionError(f"what is {text!r}?")

    def walk(self, who: str, place: str) -> None:
        if not re.fullmatch(rf"(?:{THEN.lower()}|he|she|they)", who):
            self.meant = who.split(" and ")
        assert self.meant, "who?"
        for name in self.meant:
            self.be(name, "at", place)

    def be(self, name: str, *where: str) -> None:
        self.people.add(name)
        self.where[name] = where
        for each in (name, *(thing for thing, holder in self.holder.items() if holder == name)):
            self.visit(each, where[1] if where[0] == "at" else None)

    def visit(self, name: str, place: str | None) -> None:
        visited = self.visited.setdefault(name, [])
        if visited[-1:] != [place]:
            visited.append(place)

    def walk_then(self, early: str | None, who: str, place: str, late: str | None) -> None:
        self.dated.setdefault(who, {})[TIMES.index(early or late or "")] = place

    def be_in(self, who: str, place: str) -> None:
        self.meant = [who]
        self.be(who, "at", place)

    def be_gone(self, who: str, place: str) -> None:
        self.meant = [who]
        self.be(who, "not", place)

    def be_in_either(self, who: str, one: str, other: str) -> None:
        self.meant = [who]
        self.be(who, "either", one, other)

    def get(self, who: str, thing: str) -> None:
        self.meant = [who]
        self.people.add(who)
        if self.holder.get(thing) == who:  # told twice
            return
        known = (self.where.get(who), self.put.pop(thing, None))
        sure = [each[1] for each in known if each and each[0] == "at"]
        if any(known):
            self.visit(thing, sure[0] if sure else None)
        self.hold(who, thing)

    def hold(self, who: str, thing: str) -> None:
        self.holder[thing] = who
        if thing not in self.had.setdefault(who, []):
            self.had[who].append(thing)

    def drop(self, who: str, thing: str) -> None:
        self.meant = [who]
        if self.holder.pop(thing, None):
            self.put[thing] = self.where.get(who, ())

    def give(self, giver: str, thing: str, receiver: str) -> None:
        self.meant = []
        self.people |= {giver, receiver}
        if self.holder.get(thing) == giver:
            if self.where.get(giver) != self.where.get(receiver):
                self.visit(thing, None)
            self.gifts.append((giver, thing, receiver))
            self.hold(receiver, thing)

    def be_a(self, who: str, kind: str) -> None:
        self.kinds[who] = kind

    def be_so(self, who: str, quality: str) -> None:
        self.qualities[who] = quality
        if quality in MOTIVES:
            self.people.add(who)

    def fear(self, animals: str, others: str) -> None:
        self.fears[singular(animals)] = singular(others)

    def lie(self, one: str, way: str, other: str) -> None:
        self.rooms.append((one, STEPS[way], other))

    def stand(self, one: str, way: str, other: str) -> None:
        self.shapes.append((one, SIDES[way], other))

    def fit(self, small: str, big: str) -> None:
        self.bigger.setdefault(small, set()).add(big)

    def be_bigger(self, big: str, small: str) -> None:
        self.fit(small, big)

    # What is asked.

    def where_is(self, who: str) -> str | None:
        place = self.where.get(who, ("",))
        return place[1] if place[0] == "at" else None if place[0] == "either" else UNKNOWN

    def where_is_thing(self, thing: str) -> str | None:
        holder = self.holder.get(thing)
        place = (self.where.get(holder) if holder else self.put.get(thing)) or ("",)
        return place[1] if place[0] == "at" else UNKNOWN if not place[0] else None

    def is_thing_in(self, thing: str, place: str) -> str | None:
        where = self.where_is_thing(thing)
        return where if where in (None, UNKNOWN) else "yes" if where == place else "no"

    def where_was(self, what: str, place: str) -> str | None:
        dated = self.dated.get(what)
        visited = [dated[time] for time in sorted(dated)] if dated else self.visited.get(what, [])
        if place not in visited:
            return None if visited else UNKNOWN
        last = len(visited) - 1 - visited[::-1].index(place)
        return visited[last - 1] if last else UNKNOWN

    def is_in(self, who: str, place: str) -> str | None:
        way, *places = self.where.get(who, ("",))
        if way == "at":
            return "yes" if place in places else "no"
        if way == "either":
            return "maybe" if place in places else "no"
        return UNKNOWN if not way else "no" if place in places else None

    def how_many(self, who: str) -> str:
        return NUMBERS[len(self.held(who))] if who in self.people else UNKNOWN

    def carries(self, who: str) -> str:
        return (",".join(self.held(who)) or "nothing") if who in self.people else UNKNOWN

    def held(self, who: str) -> list[str]:
        return [thing for thing in self.had.get(who, []) if self.holder.get(thing) == who]

    def gave(self, wanted: int, *fixed: tuple[int, str]) -> str:
        fitting = [gift for gift in self.gifts if all(gift[part] == name for part, name in fixed)]
        return fitting[-1][wanted] if fitting else UNKNOWN

    def afraid_of(self, who: str) -> str:
        return self.fears.get(self.kinds.get(who, ""), UNKNOWN)

    def color(self, who: str) -> str | None:
        if who in self.qualities:
            return self.qualities[who]
        kind = self.kinds.get(who)
        like = {self.qualities.get(name) for name, its in self.kinds.items() if its == kind} - {
            None
        }
        return UNKNOWN if not kind or not like else like.pop() if len(like) == 1 else None

    def next_to(self, way: str, place: str) -> str | None:
        x, y = STEPS[way]
        found = {one for one, there, other in self.rooms if (other, there) == (place, (x, y))}
        found |= {other for one, there, other in self.rooms if (one, there) == (place, (-x, -y))}
        return found.pop() if len(found) == 1 else None if found else UNKNOWN

    def opposite_of(self, place: str, way: str) -> str | None:
        x, y = STEPS[way]
        ((back, _),) = [(name, there) for name, there in STEPS.items() if there == (-x, -y)]
        return self.next_to(back, place)

    def way_to(self, start: str, end: str) -> str | None:
        if end not in placed(self.rooms, start):
            return UNKNOWN
        names = {there: name[0] for name, there in STEPS.items()}
        places = {name for one, _, other in self.rooms for name in (one, other)}
        near = {(one, other) for one, _, other in self.rooms}
        near |= {(other, one) for one, other in near}
        if (start, end) in near:
            return names[step(self.rooms, start, end)]
        ways = [
            f"{names[step(self.rooms, start, via)]},{names[step(self.rooms, via, end)]}"
            for via in places
            if {(start, via), (via, end)} <= near
        ]
        return ways[0] if len(ways) == 1 else None

    def stands(self, one: str, side: str, other: str) -> str | None:
        way = placed(self.shapes, other).get(one)
        if way is None:
            return UNKNOWN
        steps = [step(self.shapes, *pair) for pair in itertools.pairwise(way)]
        x, y = (sum(numbers) for numbers in zip(*steps, strict=True))
        far = x * SIDES[side][0] + y * SIDES[side][1]
        return None if not far else "yes" if far > 0 else "no"

    def fits(self, small: str, big: str) -> str:
        if self.reaches(small, big):
            return "yes"
        return "no" if self.reaches(big, small) else UNKNOWN

    def reaches(self, small: str, big: str) -> bool:
        return any(each == big or self.reaches(each, big) for each in self.bigger.get(small, ()))

    def will_go(self, who: str) -> str:
        feeling = self.qualities.get(who)
        return MOTIVES[feeling][0] if feeling in MOTIVES else UNKNOWN

    def why(self, who: str, what: str) -> str:
        feeling = self.qualities.get(who, UNKNOWN)
        assert feeling == UNKNOWN or what in MOTIVES[feeling], (who, what)
        return feeling


SENTENCES = (
    (rf"(?:({WHEN}) )?{WORD} {WENT} {WORD} ({WHEN})", Reading.walk_then),
    (rf"({WHEN}) {WORD} {WENT} {WORD}(?: ({WHEN}))?", Reading.walk_then),
    (rf"([\w -]+?) {WENT} {WORD}", Reading.walk),
    (rf"{WORD} (?:got|took|grabbed|picked up) the {WORD}(?: there)?", Reading.get),
    (rf"{WORD} (?:dropped|left|discarded|put down) the {WORD}(?: there)?", Reading.drop),
    (rf"{WORD} (?:gave|handed|passed) the {WORD} to {WORD}", Reading.give),
    (rf"{WORD} is in the {WORD}", Reading.be_in),
    (rf"{WORD} is (?:not|no longer) in the {WORD}", Reading.be_gone),
    (rf"{WORD} is either in the {WORD} or the {WORD}", Reading.be_in_either),
    (rf"the {WORD} is ({NORTH}) of the {WORD}", Reading.lie),
    (rf"the (.+) is ({ABOVE}) the (.+)", Reading.stand),
    (r"the (.+) fits inside the (.+)", Reading.fit),
    (r"the (.+) is bigger than the (.+)", Reading.be_bigger),
    (rf"{WORD} are afraid of {WORD}", Reading.fear),
    (rf"{WORD} is a {WORD}", Reading.be_a),
    (rf"{WORD} is {WORD}", Reading.be_so),
)
GIVER, THING, RECEIVER = range(3)
QUESTIONS = (
    (rf"where is the {WORD}", Reading.where_is_thing),
    (rf"where is {WORD}", Reading.where_is),
    (rf"where was (?:the )?{WORD} before the {WORD}", Reading.where_was),
    (rf"is {WORD} in the {WORD}", Reading.is_in),
    (rf"is the {WORD} in the {WORD}", Reading.is_thing_in),
    (rf"how many objects is {WORD} carrying", Reading.how_many),
    (rf"what is {WORD} carrying", Reading.carries),
    (
        rf"what did {WORD} give to {WORD}",
        lambda told, giver, receiver: told.gave(THING, (GIVER, giver), (RECEIVER, receiver)),
    ),
    (
        rf"who gave the {WORD} to {WORD}",
        lambda told, thing, receiver: told.gave(GIVER, (THING, thing), (RECEIVER, receiver)),
    ),
    (rf"who gave the {WORD}", lambda told, thing: told.gave(GIVER, (THING, thing))),
    (
        rf"who did {WORD} give the {WORD} to",
        lambda told, giver, thing: told.gave(RECEIVER, (GIVER, giver), (THING, thing)),
    ),
    (rf"who received the {WORD}", lambda told, thing: told.gave(RECEIVER, (THING, thing))),
    (rf"what is {WORD} afraid of", Reading.afraid_of),
    (rf"what color is {WORD}", Reading.color),
    (rf"what is ({NORTH}) of the {WORD}", Reading.next_to),
    (rf"what is the {WORD} ({NORTH}) of", Reading.opposite_of),
    (rf"how do you go from the {WORD} to the {WORD}", Reading.way_to),
    (rf"is the (.+) ({ABOVE}) the (.+)", Reading.stands),
    (r"does the (.+) fit in the (.+)", Reading.fits),
    (r"is the (.+) bigger than the (.+)", lambda told, big, small: told.fits(small, big)),
    (rf"where will {WORD} go", Reading.will_go),
    (rf"why did {WORD} go to the {WORD}", Reading.why),
    (rf"why did {WORD} get the {WORD}", Reading.why),
)


def answer(sentences: Sequence[str], question: str) -> str | None:
    """The answer to a question about any wide story, as far as `sentences` tell it."""
    told, text = Reading(sentences), question.lower().removesuffix("?")
    for pattern, find in QUESTIONS:
        if found := re.fullmatch(pattern, text):
            return find(told, *found.groups())
    raise AssertionError(f"what is {text!r}?")


def singular(animals: str) -> str:
    return SINGULAR.get(animals, animals.removesuffix("s"))
