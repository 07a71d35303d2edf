"""How many requests are worked on at a time, and how many may wait."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from anyio import CancelScope, CapacityLimiter, to_thread
from starlette.requests import ClientDisconnect, Request

from tpr_rnn.explorer import limits

Given = ParamSpec("Given")
Result = TypeVar("Result")


class BusyError(Exception):
    """Too many requests are waiting already."""


class Queue:
    """Requests wait here for the model, while the network is still served."""

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
        """Do some work in a thread when its turn comes, if the client is still connected."""
        if self._inside >= limits.WORKING + limits.WAITING:
            raise BusyError
        self._inside += 1
        try:
            # Only waiting can be cancelled: a thread that has begun cannot be stopped.
            with CancelScope() as waiting:
                watching = asyncio.create_task(_watch_disconnect(request, waiting))
                try:
                    return await to_thread.run_sync(
                        lambda: work(*args, **kwargs), limiter=self._places
                    )
                finally:
                    watching.cancel()
        finally:
            self._inside -= 1
        raise ClientDisconnect


async def _watch_disconnect(request: Request, waiting: CancelScope) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    waiting.cancel()
