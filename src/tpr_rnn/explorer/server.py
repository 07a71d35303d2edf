"""The explorer's process: a socket on this machine, and a browser that shows its page."""

import asyncio
import errno
import ipaddress
import os
import socket
import threading
import webbrowser
from collections.abc import Callable

import torch
import uvicorn

from tpr_rnn.errors import UserError
from tpr_rnn.explorer.app import create_app
from tpr_rnn.explorer.connections import Connection, OneByOne, on_loop_error
from tpr_rnn.explorer.security import LOCAL
from tpr_rnn.explorer.service import Service

BACKLOG = 128
"""Connections that may wait to be accepted."""
TAKEN = (errno.EADDRINUSE, errno.EACCES)
"""Errors for a port that is in use, or that needs special rights."""
PATIENCE = 3
"""Seconds for requests in progress to finish when the explorer ends."""


def serve(
    service: Service, host: str, port: int, *, browser: bool, announce: Callable[[str], None]
) -> None:
    """Serve the page until the process is interrupted.

    Args:
        service: the model to explore.
        host: the address to listen on; with 0.0.0.0 other machines can connect.
        port: the port; 0 takes any that is free.
        browser: whether to open the page in a browser.
        announce: called with the address of the page when it is ready.
    """
    # One model, one small story at a time: more torch threads would only wait for each other.
    torch.set_num_threads(1)
    listening = listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    everybody = host not in LOCAL and _is_unspecified(host)
    address = f"http://{'127.0.0.1' if everybody else shown}:{listening.getsockname()[1]}/"
    app = create_app(service, None if everybody else {*LOCAL, shown})
    settings = uvicorn.Config(
        app,
        http=Connection,
        log_level="error",
        access_log=False,
        timeout_graceful_shutdown=PATIENCE,
    )
    announce(address)
    if browser:  # some browsers return only when they are closed
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    asyncio.run(_serve(uvicorn.Server(settings), listening))


async def _serve(server: uvicorn.Server, listening: socket.socket) -> None:
    asyncio.get_running_loop().set_exception_handler(on_loop_error)
    await server.serve(sockets=[listening])


def listen(host: str, port: int) -> socket.socket:
    """A listening socket."""
    if not 0 <= port < 2**16:
        raise UserError(f"--port must be from 0 (any that is free) to 65535, not {port}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
        return OneByOne(fileno=listening.detach())
    except (OSError, UnicodeError) as error:
        number = error.errno if isinstance(error, OSError) else None
        if number in TAKEN:
            reason = f"{host} port {port} ({os.strerror(number)}); --port 0 takes any that is free"
        else:
            reason = (
                f"{host!r}; --host takes an address of this machine, such as 127.0.0.1, a name "
                "of this machine, or 0.0.0.0 for all of them"
            )
        raise UserError(f"cannot listen on {reason}") from error


def _is_unspecified(host: str) -> bool:
    """Whether a host means all addresses of this machine."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False
