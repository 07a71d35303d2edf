"""Which hosts and sizes are accepted, and what the page may do in a browser."""

import re
from collections.abc import Collection

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tpr_rnn.explorer import limits

HEADERS = {
    # Only files of this server, no inline script or style, no frame of another page. A picture that
    # the page has made itself (blob:) becomes a PNG.
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
TOO_LARGE = f"the request is too large; at most {limits.BODY} bytes are allowed"
LOCAL = ("127.0.0.1", "localhost", "[::1]")


class Protection:
    """Middleware that refuses other hosts, other pages and large bodies, and sets the security
    headers.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str] | None) -> None:
        """Protect an application.

        Args:
            app: the application.
            hosts: host names that are accepted, so that no other web page can reach it by DNS
                rebinding; None: any.
        """
        self._app = app
        self._hosts = None if hosts is None else [host.lower() for host in hosts]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        of_api = scope["path"].startswith("/api/")

        async def send_protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers["cache-control"] = "no-store" if of_api else "no-cache"
            await send(message)

        refusal = self._refusal(Headers(scope=scope))
        if refusal is None:
            await self._app(scope, _limited(receive), send_protected)
        else:
            await refusal(scope, receive, send_protected)

    def _refusal(self, headers: Headers) -> JSONResponse | None:
        host = re.sub(r":\d*$", "", headers.get("host", "").lower())  # without the port
        if self._hosts is not None and host not in self._hosts:
            return JSONResponse(
                {
                    "error": f"{host!r} is not a host name of this explorer; "
                    f"it has {', '.join(self._hosts)}"
                },
                status_code=421,
            )
        # A browser says which page asks. That of another server, even of this machine, may not.
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != headers.get("host", ""):
            message = f"{origin!r} is another page than that of this explorer"
            return JSONResponse({"error": message}, status_code=403)
        length = headers.get("content-length", "0")
        if length.isdigit() and int(length) > limits.BODY:
            return JSONResponse({"error": TOO_LARGE}, status_code=413)
        return None


def _limited(receive: Receive) -> Receive:
    """Count the bytes received: the content-length may be missing or wrong."""
    taken = 0

    async def limited() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > limits.BODY:
            raise HTTPException(413, TOO_LARGE)
        return message

    return limited
