"""People who walk about, alone or together, and carry, drop and hand on things."""

import random
from collections.abc import Callable, Sequence
from typing import Literal

from tpr_rnn.data.simulator import english
from tpr_rnn.data.simulator.wide.knowledge import NOTHING, UNSURE, Gift, Knowledge, Known
from tpr_rnn.data.simulator.wide.world import NOT_THERE, Asked, Cast, World, unknown
from tpr_rnn.data.simulator.words import DROPPED, GAVE, GOT, NUMBERS, OBJECTS, THEN

Act = Literal["go", "together", "on", "is", "left", "either", "get", "drop", "give"]

WALKS: tuple[tuple[Act, ...], ...] = (
    ("go",),
    ("go", "go", "on"),
    ("go", "together", "on", "on"),
    ("go", "is", "left"),
    ("go", "is", "either"),
    ("go", "go", "together", "on", "is", "left", "either"),
)
"""What may happen in a story of people who only walk; each story has one of these."""
CARRYING: tuple[tuple[Act, ...], ...] = (
    ("go", "go", "get", "drop"),
    ("go", "get", "drop", "give"),
    ("go", "go", "on", "get", "give"),
    ("go", "together", "on", "is", "left", "either", "get", "get", "drop", "give"),
)
"""The same where they carry things."""

WHERE_IS, IS_THERE, NEVER_TOOK = "where somebody is", "is somebody there", "nothing ever taken"

MOST_HELD = 5
"""Nobody carries more."""


class People(World):
    """What really happens, and what a listener knows of it."""

    elsewhere = ("What color is {}?", "What is {} afraid of?", "Where will {} go?")

    def __init__(
        self, rng: random.Random, cast: Cast, acts: Sequence[tuple[Act, ...]] = WALKS
    ) -> None:
        super().__init__(rng, cast)
        self._acts = rng.choice(acts)
        self._at = {name: rng.choice(cast.places) for name in cast.names}
        near = [*self._at.values(), rng.choice(cast.places)]
        self._lies = {thing: rng.choice(near) for thing in cast.things}
        self._known = Knowledge()
        self._meant: tuple[str, ...] = ()
        self._pronouns = 0

    def tell(self, *, goes_on: bool) -> str | None:
        """Let something happen, and tell it."""
        if not goes_on:
            self._meant = ()
        while True:
            act = self.rng.choice(self._acts)
            # Who is spoken of once tends to be spoken of again.
            if act != "on" and self._meant and "on" in self._acts and self.chance(0.25):
                act = "on"
            told = getattr(self, f"_{act}")()
            if told is not None:
                return str(told)

    # ------------------------------------------------------------------------------ what happens

    def _go(self) -> str:
        who = self.rng.choice(self.cast.names)
        place = self._elsewhere(self._at[who])
        self._arrive((who,), place)
        return english.going(self.rng, who, place) + "."

    def _together(self) -> str | None:
        if len(self.cast.names) < 2 or len(self.cast.places) < 3:
            return None
        pair = tuple(self.rng.sample(self.cast.names, 2))
        places = [place for place in self.cast.places if place not in map(self._at.get, pair)]
        place = self.rng.choice(places)
        self._arrive(pair, place)
        return english.going(self.rng, " and ".join(pair), place) + "."

    def _on(self) -> str | None:
        """The same people go on: "then she went to the garden"."""
        if not self._meant:
            return None
        who = self._meant
        place = self._elsewhere(self._at[who[0]])
        pronouns = self._pronouns + 1
        self._arrive(who, place, pronouns)
        pronoun = "they" if len(who) > 1 else self.cast.pronouns[who[0]]
        then = f"{self.rng.choice(THEN)} " if self.chance(0.8) else ""
        return english.going(self.rng, then + pronoun, place) + "."

    def _is(self) -> str:
        who = self._walk_unseen()
        self._arrive((who,), self._at[who])
        return f"{who} is in the {self._at[who]}."

    def _left(self) -> str:
        who = self.rng.choice(self.cast.names)
        place = self._at[who]
        self._at[who] = self._elsewhere(place)
        self._learn(who, Known("not", (place,)))
        return f"{who} is {self.rng.choice(('not', 'no longer'))} in the {place}."

    def _either(self) -> str:
        who = self._walk_unseen()
        places = [self._at[who], self._elsewhere(self._at[who])]
        self.rng.shuffle(places)
        self._learn(who, Known("either", tuple(places)))
        return f"{who} is either in the {places[0]} or the {places[1]}."

    def _get(self) -> str | None:
        possible = [
            (who, thing)
            for who, here in self._at.items()
            for thing, place in self._lies.items()
            if place == here and self._hands_free(who)
        ]
        if not possible:
            return None
        who, thing = self.rng.choice(possible)
        known, lay = self._known.mention(who), self._known.put.pop(thing, NOTHING)
        if {known.way, lay.way} != {"nothing"}:
            sure = [each.places[0] for each in (known, lay) if each.way == "at"]
            self._known.note(thing, sure[0] if sure else None)
            self._known.doubt(who)
        del self._lies[thing]
        self._known.take(who, thing)
        there = " there" if self.chance(0.3) else ""
        return self._by_one(who, f"{self.rng.choice(GOT)} the {thing}{there}.")

    def _drop(self) -> str | None:
        thing = self.one_of(list(self._known.holder))
        if thing is None:
            return None
        who = self._known.holder.pop(thing)
        self._lies[thing] = self._at[who]
        known = self._known.where[who]
        self._known.put[thing] = known if known.way in ("at", "nothing") else UNSURE
        there = " there" if self.chance(0.2) else ""
        return self._by_one(who, f"{self.rng.choice(DROPPED)} the {thing}{there}.")

    def _give(self) -> str | None:
        possible = [
            (giver, thing, receiver)
            for thing, giver in self._known.holder.items()
            for receiver, place in self._at.items()
            if receiver != giver and place == self._at[giver] and self._hands_free(receiver)
        ]
        if not possible:
            return None
        giver, thing, receiver = self.rng.choice(possible)
        one, other = self._known.mention(giver), self._known.mention(receiver)
        if (one.way, one.places) != (other.way, other.places):
            self._known.note(thing, None)
            self._known.doubt(giver, receiver)
        self._known.gifts.append(Gift(giver, thing, receiver))
        self._known.take(receiver, thing)
        self._meant = ()
        return f"{giver} {self.rng.choice(GAVE)} the {thing} to {receiver}."

    def _hands_free(self, who: str) -> bool:
        return list(self._known.holder.values()).count(who) < MOST_HELD

    def _walk_unseen(self) -> str:
        who = self.rng.choice(self.cast.names)
        self._at[who] = self._elsewhere(self._at[who])
        return who

    def _elsewhere(self, place: str) -> str:
        return self.rng.choice([other for other in self.cast.places if other != place])

    # --------------------------------------------------------------------- what a listener knows

    def _arrive(self, who: tuple[str, ...], place: str, pronouns: int = 0) -> None:
        for name in who:
            self._at[name] = place
            self._known.learn(name, Known("at", (place,), pronouns, together=len(who) > 1))
        self._meant, self._pronouns = who, pronouns

    def _learn(self, who: str, known: Known) -> None:
        self._known.learn(who, known)
        self._meant, self._pronouns = (who,), 0

    def _by_one(self, who: str, did: str) -> str:
        self._meant, self._pronouns = (who,), 0
        return f"{who} {did}"

    # -------------------------------------------------------------------------- what can be asked

    @property
    def questions(self) -> Sequence[Callable[[], Asked | None]]:
        """Of walks always, of things where there are any."""
        walks = (self._where_is, self._where_is, self._is_there, self._is_there, self._where_before)
        if not {"get", "give"} & set(self._acts):
            return (*walks, self._about_nobody, self._about_else)
        things = (
            *(self._where_is_thing, self._where_is_thing, self._where_was_thing),
            self._is_thing_there,
            *(self._gave, self._gave, self._gave, self._how_many, self._how_many, self._carried),
        )
        return (*walks, *things, *things, self._about_nobody, self._about_else)

    def _where_is(self) -> Asked | None:
        who = self.rng.choice(self._known.people)
        known, text = self._known.where[who], f"Where is {who}?"
        if known.way == "at":
            kind = "two together" if known.together else WHERE_IS
            return Asked(text, known.places[0], "he, and again he" if known.pronouns > 1 else kind)
        return unknown(text) if known.way in ("nothing", "not") else None

    def _is_there(self) -> Asked | None:
        who = self.rng.choice(self._known.people)
        known = self._known.where[who]
        if known.way == "nothing":
            return unknown(f"Is {who} in the {self.rng.choice(self.cast.places)}?")
        place = self.rng.choice(known.places or self.cast.places)
        if known.way in ("at", "either") and self.chance(0.5):
            place = self.rng.choice(self.cast.places)
        there = place in known.places
        text = f"Is {who} in the {place}?"
        if known.way == "at":
            return Asked(text, "yes" if there else "no", IS_THERE)
        if known.way == "either":
            return Asked(text, "maybe" if there else "no", "in one of two places")
        return Asked(text, "no", "no longer there") if known.way == "not" else None

    def _where_before(self) -> Asked | None:
        return self._before(self.rng.choice(self._known.people), "", "where somebody was before")

    def _where_was_thing(self) -> Asked | None:
        thing = self.one_of(self._known.things)
        return self._before(thing, "the ", "where a thing was before") if thing else None

    def _before(self, what: str, the: str, kind: str) -> Asked | None:
        visited = self._known.visited.get(what, [])
        place = self.one_of([place for place in visited if place])
        if place is None:
            return None
        text = f"Where was {the}{what} before the {place}?"
        last = len(visited) - 1 - visited[::-1].index(place)
        if last == 0:
            return unknown(text)
        before = visited[last - 1]
        return Asked(text, before, kind) if before else None

    def _where_is_thing(self) -> Asked | None:
        thing = self.one_of(self._known.things)
        if thing is None:
            return None
        known, text = self._known.place_of(thing), f"Where is the {thing}?"
        if known.way == "at":
            handed = thing in self._known.holder and any(
                gift.thing == thing for gift in self._known.gifts
            )
            kind = "where a thing is that was handed on" if handed else "where a thing is"
            return Asked(text, known.places[0], kind)
        return unknown(text) if known.way == "nothing" else None

    def _is_thing_there(self) -> Asked | None:
        thing = self.one_of(self._known.things)
        if thing is None:
            return None
        known = self._known.place_of(thing)
        place = self.rng.choice(self.cast.places)
        if known.way == "at":
            place = place if self.chance(0.5) else known.places[0]
            there = "yes" if place in known.places else "no"
            return Asked(f"Is the {thing} in the {place}?", there, "is a thing there")
        return unknown(f"Is the {thing} in the {place}?") if known.way == "nothing" else None

    def _about_else(self) -> Asked | None:
        return self.about_else(self._known.people)

    def _gave(self) -> Asked | None:
        giver, thing, receiver = self.one_of(self._known.gifts) or (
            self.rng.choice(self.cast.names),
            self.rng.choice(self.cast.things),
            self.rng.choice(self.cast.names),
        )
        if giver == receiver:
            return None
        if not {giver, receiver} <= {*self._known.people} or thing not in self._known.things:
            return None
        if self.chance(0.1):  # somebody else may never have given anything
            giver = self.rng.choice([name for name in self._known.people if name != receiver])
        wanted, text = self.rng.choice(
            (
                ("thing", f"What did {giver} give to {receiver}?"),
                ("giver", f"Who gave the {thing} to {receiver}?"),
                ("giver", f"Who gave the {thing}?"),
                ("receiver", f"Who did {giver} give the {thing} to?"),
                ("receiver", f"Who received the {thing}?"),
            )
        )
        named = Gift(
            giver if giver in text else "",
            thing if f"the {thing}" in text else "",
            receiver if f"to {receiver}" in text else "",
        )
        fitting = [
            gift
            for gift in self._known.gifts
            if all(part in ("", told) for part, told in zip(named, gift, strict=True))
        ]
        if fitting:
            return Asked(text, getattr(fitting[-1], wanted), "who gave what to whom")
        return unknown(text)

    def _how_many(self) -> Asked:
        who = self.rng.choice(self._known.people)
        held = self._known.held(who)
        kind = "how many things" if who in self._known.had else NEVER_TOOK
        return Asked(f"How many objects is {who} carrying?", NUMBERS[len(held)], kind)

    def _carried(self) -> Asked | None:
        who = self.rng.choice(self._known.people)
        held = self._known.held(who)
        if len(held) > 1 and not set(held) <= set(OBJECTS):
            return None  # a list is one answer, and there are too many
        kind = "what somebody carries" if who in self._known.had else NEVER_TOOK
        return Asked(f"What is {who} carrying?", ",".join(held) or "nothing", kind)

    def _about_nobody(self) -> Asked:
        who, thing = self.cast.absent_name, self.cast.absent_thing
        place = self.rng.choice((*self.cast.places, self.cast.absent_place))
        texts = [
            f"Where is {who}?",
            f"Is {who} in the {place}?",
            f"Where was {who} before the {place}?",
        ]
        if {"get", "give"} & set(self._acts):
            texts += [
                *(f"Where is the {thing}?", f"Where was the {thing} before the {place}?"),
                *(f"How many objects is {who} carrying?", f"What is {who} carrying?"),
                *(f"Who gave the {thing}?", f"Who received the {thing}?"),
                f"Who gave the {thing} to {who}?",
            ]
        return unknown(self.rng.choice(texts), NOT_THERE)
