"""How much is worked on at a time: a few at the queue, some in the queue, no more."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from anyio import CancelScope, CapacityLimiter, to_thread
from starlette.requests import ClientDisconnect, Request

from tpr_rnn.explorer import limits

Given = ParamSpec("Given")
Result = TypeVar("Result")


class BusyError(Exception):
    """Too many are waiting already."""


class Queue:
    """Where requests wait for the model, so that the network is served meanwhile."""

    def __init__(self) -> None:
        """Nobody is waiting."""
        self._places = CapacityLimiter(limits.WORKING)
        self._inside = 0

    async def do(
        self,
        request: Request,
        work: Callable[Given, Result],
        *args: Given.args,
        **kwargs: Given.kwargs,
    ) -> Result:
        """Do some work in a thread, when it is its turn and who asked for it is still there."""
        if self._inside >= limits.WORKING + limits.WAITING:
            raise BusyError
        self._inside += 1
        try:
            # Only waiting is given up: a thread cannot be stopped, so what is begun is finished.
            with CancelScope() as waiting:
                door = asyncio.create_task(_watch_door(request, waiting))
                try:
                    return await to_thread.run_sync(
                        lambda: work(*args, **kwargs), limiter=self._places
                    )
                finally:
                    door.cancel()
        finally:
            self._inside -= 1
        raise ClientDisconnect


async def _watch_door(request: Request, waiting: CancelScope) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    waiting.cancel()
