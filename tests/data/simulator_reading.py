"""A small reader of bAbI's English: it answers questions from the text of a story alone.

It shares nothing with the simulator, so it can judge what the simulator says. A question that the
sentences given do not answer is answered with None.
"""

import itertools
import re
from collections.abc import Sequence

WENT = r"(?:went back|went|journeyed|travelled|moved) to the"
WALK = re.compile(rf"(?P<who>[\w ]+?) {WENT} (?P<place>\w+)\.")
GET = re.compile(r"(\w+) (?:got|took|grabbed|picked up) the (\w+)(?: there)?\.")
DROP = re.compile(r"(\w+) (?:dropped|left|discarded|put down) the (\w+)(?: there)?\.")
GIVE = re.compile(r"(\w+) (?:gave|handed|passed) the (\w+) to (\w+)\.")
THEN = r"(?:Then|Afterwards|After that|Following that) (?:he|she|they)"
NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
TIMES = ("yesterday", "this morning", "this afternoon", "this evening")
SINGULAR = {"mice": "mouse", "wolves": "wolf", "cats": "cat", "sheep": "sheep"}
STEPS = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}
SIDES = {"above": (0, 1), "below": (0, -1), "to the right of": (1, 0), "to the left of": (-1, 0)}
MOTIVES = {
    "hungry": ("kitchen", "apple"),
    "thirsty": ("kitchen", "milk"),
    "bored": ("garden", "football"),
    "tired": ("bedroom", "pajamas"),
}


def answer(task: str, sentences: Sequence[str], question: str) -> str | None:
    """The answer to a question of a task, as far as `sentences` tell it."""
    return READERS[task](sentences, question)


def where_is_someone(sentences: Sequence[str], question: str) -> str | None:
    who = matched(r"Where is (\w+)\?", question)[0]
    return last_place(sentences, who)


def is_someone_there(sentences: Sequence[str], question: str) -> str | None:
    who, asked = matched(r"Is (\w+) in the (\w+)\?", question)
    verdict = None
    for sentence in sentences:
        if walk := WALK.fullmatch(sentence):
            subject, place = walk["who"], walk["place"]
            result = "yes" if place == asked else "no"
        elif found := re.fullmatch(r"(\w+) is in the (\w+)\.", sentence):
            subject, place = found.groups()
            result = "yes" if place == asked else "no"
        elif found := re.fullmatch(r"(\w+) is (?:not|no longer) in the (\w+)\.", sentence):
            subject, place = found.groups()
            result = "no" if place == asked else None
        elif found := re.fullmatch(r"(\w+) is either in the (\w+) or the (\w+)\.", sentence):
            subject, *places = found.groups()
            result = "maybe" if asked in places else "no"
        else:
            assert GET.fullmatch(sentence) or DROP.fullmatch(sentence), sentence
            continue
        if subject == who:
            verdict = result
    return verdict


def last_place(sentences: Sequence[str], who: str) -> str | None:
    place = None
    meant: list[str] = []
    for sentence in sentences:
        walk = WALK.fullmatch(sentence)
        assert walk, sentence
        if not re.fullmatch(THEN, walk["who"]):
            meant = walk["who"].split(" and ")
        if who in meant:
            place = walk["place"]
    return place


def histories(sentences: Sequence[str]) -> dict[str, list[str]]:
    """The places where each object is known to have been, in order."""
    place_of: dict[str, str] = {}
    walks_of: dict[str, list[str]] = {}
    holder_of: dict[str, str] = {}
    history: dict[str, list[str]] = {}
    for sentence in sentences:
        if walk := WALK.fullmatch(sentence):
            who, place = walk["who"], walk["place"]
            place_of[who] = place
            walks_of.setdefault(who, []).append(place)
            for thing, holder in holder_of.items():
                if holder == who:
                    history[thing].append(place)
        elif found := GET.fullmatch(sentence):
            who, thing = found.groups()
            holder_of[thing] = who
            places = history.setdefault(thing, [])
            if who in place_of and places[-1:] != [place_of[who]]:
                places.append(place_of[who])
        else:
            found = DROP.fullmatch(sentence)
            assert found, sentence
            who, thing = found.groups()
            if thing not in history:  # who drops a thing must have had it all the time
                history[thing] = list(walks_of.get(who, []))
            holder_of.pop(thing, None)
    return history


def where_is_something(sentences: Sequence[str], question: str) -> str | None:
    thing = matched(r"Where is the (\w+)\?", question)[0]
    places = histories(sentences).get(thing)
    return places[-1] if places else None


def where_was_something(sentences: Sequence[str], question: str) -> str | None:
    thing, place = matched(r"Where was the (\w+) before the (\w+)\?", question)
    return before_last(histories(sentences).get(thing, []), place)


def before_last(places: Sequence[str], place: str) -> str | None:
    visits = [number for number, visited in enumerate(places) if visited == place]
    return places[visits[-1] - 1] if visits and visits[-1] > 0 else None


def who_gave_what(sentences: Sequence[str], question: str) -> str | None:
    patterns = {
        r"What did (?P<giver>\w+) give to (?P<receiver>\w+)\?": "thing",
        r"Who gave the (?P<thing>\w+) to (?P<receiver>\w+)\?": "giver",
        r"Who gave the (?P<thing>\w+)\?": "giver",
        r"Who did (?P<giver>\w+) give the (?P<thing>\w+) to\?": "receiver",
        r"Who received the (?P<thing>\w+)\?": "receiver",
    }
    found = [(re.fullmatch(pattern, question), wanted) for pattern, wanted in patterns.items()]
    ((asked, wanted),) = [(match.groupdict(), wanted) for match, wanted in found if match]
    result = None
    for sentence in sentences:
        if give := GIVE.fullmatch(sentence):
            gift = dict(zip(("giver", "thing", "receiver"), give.groups(), strict=True))
            if asked.items() <= gift.items():
                result = gift[wanted]
    return result


def held_by(sentences: Sequence[str], who: str) -> list[str] | None:
    """What someone holds, in the order in which they first had it; None if they never did."""
    had: dict[str, bool] = {}
    for sentence in sentences:
        if found := GET.fullmatch(sentence):
            changes = [(*found.groups(), True)]
        elif found := DROP.fullmatch(sentence):
            changes = [(*found.groups(), False)]
        elif found := GIVE.fullmatch(sentence):
            giver, thing, receiver = found.groups()
            changes = [(giver, thing, False), (receiver, thing, True)]
        else:
            assert WALK.fullmatch(sentence), sentence
            continue
        for actor, thing, has in changes:
            if actor == who:
                had[thing] = has
    return [thing for thing, has in had.items() if has] if had else None


def how_many_things(sentences: Sequence[str], question: str) -> str | None:
    held = held_by(sentences, *matched(r"How many objects is (\w+) carrying\?", question))
    return None if held is None else NUMBERS[len(held)]


def which_things(sentences: Sequence[str], question: str) -> str | None:
    held = held_by(sentences, *matched(r"What is (\w+) carrying\?", question))
    return None if held is None else ",".join(held) or "nothing"


def where_before(sentences: Sequence[str], question: str) -> str | None:
    who, place = matched(r"Where was (\w+) before the (\w+)\?", question)
    visited: dict[int, str] = {}
    for sentence in sentences:
        times = "|".join(TIMES)
        found = re.fullmatch(
            rf"(?:({times}) )?(\w+) {WENT} (\w+)(?: ({times}))?\.", sentence, re.IGNORECASE
        )
        assert found, sentence
        first, actor, went_to, last = found.groups()
        if actor == who:
            visited[TIMES.index((first or last).lower())] = went_to
    return before_last([visited[time] for time in sorted(visited)], place)


def afraid_of(sentences: Sequence[str], question: str) -> str | None:
    name = matched(r"What is (\w+) afraid of\?", question)[0]
    kinds, fears = {}, {}
    for sentence in sentences:
        if found := re.fullmatch(r"(\w+) are afraid of (\w+)\.", sentence):
            fears[SINGULAR[found[1].lower()]] = SINGULAR[found[2]]
        else:
            who, kind = matched(r"(\w+) is a (\w+)\.", sentence)
            kinds[who.lower()] = kind
    return fears.get(kinds.get(name, ""))


def what_color(sentences: Sequence[str], question: str) -> str | None:
    name = matched(r"What color is (\w+)\?", question)[0]
    kinds, colours = {}, {}
    for sentence in sentences:
        who, article, word = matched(r"(\w+) is (a )?(\w+)\.", sentence)
        (kinds if article else colours)[who] = word
    like = [who for who in kinds if who != name and kinds[who] == kinds.get(name)]
    return colours.get(like[-1]) if like else None


def placed(edges: Sequence[tuple[str, tuple[int, int], str]], start: str) -> dict[str, list[str]]:
    """The things that can be reached from `start`, each with the way there."""
    ways = {start: [start]}
    for _ in edges:
        for one, _, other in edges:
            for here, there in ((one, other), (other, one)):
                if here in ways and there not in ways:
                    ways[there] = [*ways[here], there]
    return ways


def place_edges(sentences: Sequence[str]) -> list[tuple[str, tuple[int, int], str]]:
    found = [matched(r"The (\w+) is (\w+) of the (\w+)\.", sentence) for sentence in sentences]
    return [(one, STEPS[direction], other) for one, direction, other in found]


def step(
    edges: Sequence[tuple[str, tuple[int, int], str]], start: str, end: str
) -> tuple[int, int]:
    for one, (x, y), other in edges:
        if (one, other) == (end, start):
            return x, y
        if (one, other) == (start, end):
            return -x, -y
    raise AssertionError(f"no step from {start} to {end}")


def what_is_north_of(sentences: Sequence[str], question: str) -> str | None:
    edges = place_edges(sentences)
    if found := re.fullmatch(r"What is (\w+) of the (\w+)\?", question):
        wanted, place = STEPS[found[1]], found[2]
    else:
        place, direction = matched(r"What is the (\w+) (\w+) of\?", question)
        wanted = (-STEPS[direction][0], -STEPS[direction][1])
    near = [one if other == place else other for one, _, other in edges if place in (one, other)]
    answers = [other for other in near if step(edges, place, other) == wanted]
    return answers[0] if answers else None


def is_it_left_of(sentences: Sequence[str], question: str) -> str | None:
    sides = "|".join(SIDES)
    found = [matched(rf"The (.+?) is ({sides}) the (.+)\.", sentence) for sentence in sentences]
    edges = [(one, SIDES[side], other) for one, side, other in found]
    one, side, other = matched(rf"Is the (.+?) ({sides}) the (.+)\?", question)
    way = placed(edges, other).get(one)
    if way is None:
        return None
    steps = [step(edges, *pair) for pair in itertools.pairwise(way)]
    x, y = (sum(numbers) for numbers in zip(*steps, strict=True))
    return "yes" if x * SIDES[side][0] + y * SIDES[side][1] > 0 else "no"


def does_it_fit(sentences: Sequence[str], question: str) -> str | None:
    bigger: dict[str, set[str]] = {}
    for sentence in sentences:
        if found := re.fullmatch(r"The (.+) fits inside the (.+)\.", sentence):
            small, big = found.groups()
        else:
            big, small = matched(r"The (.+) is bigger than the (.+)\.", sentence)
        bigger.setdefault(small, set()).add(big)
    if found := re.fullmatch(r"Does the (.+) fit in the (.+)\?", question):
        inner, outer = found.groups()
    else:
        outer, inner = matched(r"Is the (.+) bigger than the (.+)\?", question)

    def fits(small: str, big: str) -> bool:
        return any(next_ == big or fits(next_, big) for next_ in bigger.get(small, ()))

    return "yes" if fits(inner, outer) else "no" if fits(outer, inner) else None


def how_to_go(sentences: Sequence[str], question: str) -> str | None:
    start, end = matched(r"How do you go from the (\w+) to the (\w+)\?", question)
    edges = place_edges(sentences)
    way = placed(edges, start).get(end)
    if way is None:
        return None
    names = {vector: name for name, vector in STEPS.items()}
    return ",".join(names[step(edges, *pair)][0] for pair in itertools.pairwise(way))


def why_did_one_go(sentences: Sequence[str], question: str) -> str | None:
    name = matched(r"\w+ (?:will|did) (\w+) .*", question)[0]
    feelings = {}
    for sentence in sentences:
        if found := re.fullmatch(r"(\w+) is (\w+)\.", sentence):
            feelings[found[1].lower()] = found[2]
    feeling = feelings.get(name)
    if feeling is None:
        return None
    place, thing = MOTIVES[feeling]
    if question == f"Where will {name} go?":
        return place
    assert question in (f"Why did {name} go to the {place}?", f"Why did {name} get the {thing}?")
    return feeling


def matched(pattern: str, text: str) -> tuple[str, ...]:
    found = re.fullmatch(pattern, text)
    assert found, f"{text!r} is not {pattern!r}"
    return found.groups()


READERS = {
    "1": where_is_someone,
    "2": where_is_something,
    "3": where_was_something,
    "4": what_is_north_of,
    "5": who_gave_what,
    "6": is_someone_there,
    "7": how_many_things,
    "8": which_things,
    "9": is_someone_there,
    "10": is_someone_there,
    "11": where_is_someone,
    "12": where_is_someone,
    "13": where_is_someone,
    "14": where_before,
    "15": afraid_of,
    "16": what_color,
    "17": is_it_left_of,
    "18": does_it_fit,
    "19": how_to_go,
    "20": why_did_one_go,
}
