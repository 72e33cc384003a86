"""Connections: their number, their deadlines, and requests that are no HTTP.

uvicorn waits for a request for ever, has no cap that keeps its place for a client in
good faith, and refuses in plain text. So each connection gathers a whole head here
before uvicorn and h11 read it.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from jax_ttt.serving import heads, replies
from jax_ttt.serving.replies import Refusal

MOST_CONNECTIONS = 64
REQUEST_SECONDS = 10.0
"""Within this time a client sends its whole request, and reads what it is sent."""
LINGER_SECONDS = 1.0
"""How long we still read after a refusal: closing at once would reset the connection,
and the client could lose the reply."""
MOST_BODY_BYTES = 8 * 2**20
"""The longest body of any request; `requests` has a lower limit for most of them."""


class Connection(H11Protocol):
    """One connection, which serves one request."""

    transport: asyncio.Transport
    _open: dict["Connection", None] = {}  # noqa: RUF012  replaced by `limited`

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request; make room by closing the one waiting longest."""
        super().connection_made(transport)
        self._head = bytearray()
        self._missing: int | None = None  # bytes of the body; None before its head ends
        self._refused = False
        self._timer = self.loop.call_later(REQUEST_SECONDS, self._too_slow)
        if len(self._open) >= MOST_CONNECTIONS:
            waiting = next((c for c in self._open if c.is_waiting), None)
            if waiting is None:
                self.refuse(503, "too many connections: try again")
                return
            waiting.refuse(408, "too many connections, and no whole request")
        self._open[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._open.pop(self, None)
        self._timer.cancel()
        super().connection_lost(exc)

    @property
    def is_waiting(self) -> bool:
        """Whether the request is not complete yet."""
        return self._missing != 0

    def data_received(self, data: bytes) -> None:
        """Pass a whole head on, then the body that it announces, and no more."""
        if self._refused or self._missing == 0:
            return  # what follows the request is not read
        if self._missing is None:
            self._head += data
            try:
                begin = heads.end_of_head(self._head)
                if begin is None:
                    return
                head = bytes(self._head[:begin])
                self._missing = heads.body_length(head, MOST_BODY_BYTES)
            except Refusal as refusal:
                self.refuse(refusal.status, refusal.reason)
                return
            body = bytes(self._head[begin:])
        else:
            head, body = b"", data
        body = body[: self._missing]
        self._missing -= len(body)
        if not self._missing:
            self._timer.cancel()
        super().data_received(head + body)

    def eof_received(self) -> None:
        """End a connection whose client sends no more, unless it waits for a reply."""
        if self._missing != 0:
            self.transport.close()

    def refuse(self, status: int, reason: str) -> None:
        """Reply with a status and a reason, and close the connection."""
        self._open.pop(self, None)
        self._timer.cancel()
        if self._refused or self.transport.is_closing():
            return
        self._refused = True
        self.transport.write(replies.refusal(status, reason))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._timer = self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def send_400_response(self, msg: str) -> None:
        """Refuse what h11 can't parse."""
        self._missing = 0
        self.refuse(400, msg)

    def on_response_complete(self) -> None:
        """Give the place to another client; wait for this one to read its reply."""
        self._open.pop(self, None)
        self._timer.cancel()
        self._timer = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Give a client that does not read a time to go on."""
        super().pause_writing()
        self._timer.cancel()
        self._timer = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on writing."""
        super().resume_writing()
        self._timer.cancel()

    def shutdown(self) -> None:
        """Close the connection when the server ends, at once if there is no request."""
        if self._missing == 0 and not self._refused:
            super().shutdown()
        else:
            self.transport.abort()

    def _too_slow(self) -> None:
        self.refuse(408, f"no whole request within {REQUEST_SECONDS:g} s")


def limited() -> type[Connection]:
    """Return the class of the connections of one server, which it counts together."""
    fields: dict[str, Any] = {"_open": {}}
    return type("LimitedConnection", (Connection,), fields)
