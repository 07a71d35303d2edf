"""How many connections are open at a time: file descriptors must not run out.

Where they do run out, for whatever reason, one line in the log says so, and the explorer goes on
as soon as there are some again.
"""

import asyncio
import errno
import logging
import socket
import time
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from tpr_rnn.explorer import limits

OUT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)
QUIET_SECONDS = 60.0
"""The same trouble is logged at most this often."""
_REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\nconnection: close\r\n"
    b"content-type: application/json\r\ncontent-length: 54\r\n\r\n"
    b'{"error": "too many connections are open; try again"}\n'
)


def most_connections() -> int:
    """How many connections may be open: each may need a file besides, and the rest needs some."""
    try:
        import resource
    except ImportError:  # Windows
        return limits.CONNECTIONS
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if descriptors == resource.RLIM_INFINITY:
        return limits.CONNECTIONS
    return min(limits.CONNECTIONS, max((descriptors - 32) // 2, 1))


class OneByOne(socket.socket):
    """A listening socket that gives asyncio one connection at a time.

    asyncio accepts all that wait before it looks at any: those to be refused would first use up
    the descriptors.
    """

    _given = False

    def accept(self) -> tuple[socket.socket, Any]:
        """A connection; at every second call none, which makes asyncio go on with its work."""
        self._given = not self._given
        if not self._given:
            raise BlockingIOError
        return super().accept()


class Connection(H11Protocol):
    """A connection that is refused where too many are open, and closed where a client is slow.

    uvicorn waits for ever for the rest of a request once it has begun, and for a client that does
    not read its answer.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept or refuse."""
        super().connection_made(transport)
        if len(self.connections) > most_connections():
            log_rarely("too many connections are open; refusing more until some are closed")
            transport.write(_REFUSAL)
            transport.close()
            return
        self._allow(limits.REQUEST_SECONDS)

    def data_received(self, data: bytes) -> None:
        """Take some bytes, of a request as a rule."""
        before = self.conn.their_state
        super().data_received(data)
        if before in _ARRIVING and self.conn.their_state not in _ARRIVING:
            self._allow(limits.ANSWER_SECONDS)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._allow(limits.REQUEST_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        super().connection_lost(exc)
        if self._deadline is not None:
            self._deadline.cancel()

    def _allow(self, seconds: float) -> None:
        """Let the client take so long with what comes next."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(seconds, self.transport.abort)


_ARRIVING = (h11.IDLE, h11.SEND_BODY)
"""What a client does, as h11 sees it, while its request is not there as a whole."""


def on_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log errors of the event loop; asyncio itself retries after a second to accept connections."""
    error = context.get("exception")
    if isinstance(error, OSError) and error.errno in OUT_OF_DESCRIPTORS:
        log_rarely("no file descriptors are left; waiting until some are closed")
    else:
        loop.default_exception_handler(context)


_logged: dict[str, float] = {}


def log_rarely(message: str) -> None:
    """Log a line, unless the same one was logged within the last minute."""
    now = time.monotonic()
    if now - _logged.get(message, -QUIET_SECONDS) >= QUIET_SECONDS:
        _logged[message] = now
        logging.getLogger("uvicorn.error").error(message)
