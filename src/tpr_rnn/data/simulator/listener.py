"""What a listener can know who was told the events of a story, and only them."""

from typing import NamedTuple

from tpr_rnn.data.simulator.world import Event


class Told(NamedTuple):
    """An event, and the position of the sentence that told it."""

    event: Event
    position: int


class Listener:
    """Remembers who went where, and who had which object in their hands."""

    def __init__(self) -> None:
        self.told: list[Told] = []
        self._walks: dict[str, list[Told]] = {}
        self._handled: dict[str, list[Told]] = {}

    def hear(self, event: Event, position: int) -> None:
        """Take in an event that the sentence at `position` told."""
        told = Told(event, position)
        self.told.append(told)
        if event.action == "go":
            self._walks.setdefault(event.actor, []).append(told)
        else:
            self._handled.setdefault(event.object, []).append(told)

    def walks(self, actor: str) -> list[Told]:
        """Where an actor went, as far as it was told."""
        return self._walks.get(actor, [])

    def last_walk(self, actor: str, before: int | None = None) -> Told | None:
        """The walk that led an actor to where they are, or were `before` a position."""
        for walk in reversed(self.walks(actor)):
            if before is None or walk.position < before:
                return walk
        return None

    def handled(self, thing: str) -> list[Told]:
        """What was done with an object."""
        return self._handled.get(thing, [])

    def hands(self, actor: str) -> list[Told]:
        """When an actor got, dropped, gave or was given something."""
        return [
            told
            for told in self.told
            if told.event.action != "go" and actor in (told.event.actor, told.event.receiver)
        ]

    def holder(self, thing: str) -> str | None:
        """Who holds an object, if anyone is known to."""
        event = self._handled[thing][-1].event
        return {"get": event.actor, "give": event.receiver}.get(event.action)
