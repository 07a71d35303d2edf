"""A small world: actors who walk between places and carry objects about."""

import random
from typing import Literal, NamedTuple

from tpr_rnn.data.simulator.options import Cast

Action = Literal["go", "get", "drop", "give"]


class Event(NamedTuple):
    """Something an actor did; what does not apply is empty."""

    action: Action
    actor: str
    place: str
    """Where it happened; for "go", where the actor arrived."""
    origin: str = ""
    """For "go", where the actor came from."""
    object: str = ""
    receiver: str = ""


class World:
    """Who is where and who holds what. At first, all are somewhere at random."""

    def __init__(self, rng: random.Random, cast: Cast) -> None:
        self._rng = rng
        self._actors = cast.names
        self._places = cast.places
        self._place_of = {actor: rng.choice(cast.places) for actor in cast.names}
        # An object is in a place, or with the actor who holds it.
        self._where = {thing: rng.choice(cast.places) for thing in cast.objects}

    def next_event(self, actions: tuple[Action, ...]) -> Event:
        """Let something happen that is possible.

        An actor and one of `actions` are drawn until the two go together, so who can do more
        acts more often.
        """
        while True:
            event = self._try(self._rng.choice(self._actors), self._rng.choice(actions))
            if event is not None:
                return self._happen(event)

    def go_together(self, company: int) -> tuple[tuple[str, ...], str]:
        """Let as many actors go to a place where none of them is; returns them and the place."""
        while True:
            actors = tuple(self._rng.sample(self._actors, company))
            place = self._rng.choice(self._places)
            if all(self._place_of[actor] != place for actor in actors):
                self._place_of.update(dict.fromkeys(actors, place))
                return actors, place

    def go_on(self, actors: tuple[str, ...]) -> str:
        """Let actors who are together go to another place, and return that."""
        here = self._place_of[actors[0]]
        place = self._rng.choice([place for place in self._places if place != here])
        self._place_of.update(dict.fromkeys(actors, place))
        return place

    def _try(self, actor: str, action: Action) -> Event | None:
        here = self._place_of[actor]
        if action == "go":
            place = self._rng.choice(self._places)
            return Event("go", actor, place, origin=here) if place != here else None
        if action == "give":
            return self._first_gift()
        whose = here if action == "get" else actor
        things = [thing for thing, where in self._where.items() if where == whose]
        return Event(action, actor, here, object=self._rng.choice(things)) if things else None

    def _first_gift(self) -> Event | None:
        """The gift that is possible first, by the order of the objects and then the actors.

        Official stories leave no choice here: a thing is given to and fro until someone goes.
        """
        for thing, giver in self._where.items():
            if giver in self._place_of:
                here = self._place_of[giver]
                for actor, place in self._place_of.items():
                    if place == here and actor != giver:
                        return Event("give", giver, here, object=thing, receiver=actor)
        return None

    def _happen(self, event: Event) -> Event:
        if event.action == "go":
            self._place_of[event.actor] = event.place
        elif event.action == "get":
            self._where[event.object] = event.actor
        elif event.action == "drop":
            self._where[event.object] = event.place
        else:
            self._where[event.object] = event.receiver
        return event
