"""How much is worked on at a time: a few at the desk, some in the queue, no more."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread

from tpr_rnn.explorer import limits

Given = ParamSpec("Given")
Result = TypeVar("Result")


class BusyError(Exception):
    """Too many are waiting already."""


class Desk:
    """Where requests wait for the model, so that the network is served meanwhile."""

    def __init__(self) -> None:
        """Nobody is waiting."""
        self._places = CapacityLimiter(limits.WORKING)
        self._inside = 0

    async def do(
        self, work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs
    ) -> Result:
        """Do some work in a thread, when it is its turn."""
        if self._inside >= limits.WORKING + limits.WAITING:
            raise BusyError
        self._inside += 1
        try:
            return await to_thread.run_sync(lambda: work(*args, **kwargs), limiter=self._places)
        finally:
            self._inside -= 1
