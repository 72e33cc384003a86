"""Connections: their number, their deadlines, and requests that are no HTTP.

uvicorn waits for a request for ever, has no cap that keeps its place for a client in
good faith, and refuses in plain text. So each connection gathers a whole request here
before uvicorn and h11 read it, and serves no second one.
"""

import asyncio
from typing import ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from jax_ttt.serving import heads, replies
from jax_ttt.serving.replies import Refusal

MOST_CONNECTIONS = 64
MOST_SOCKETS = 4 * MOST_CONNECTIONS
"""With those that were refused and still have to read why."""
MOST_LARGE = 4
"""Requests with a large body at once: they are kept in memory."""
REQUEST_SECONDS = 10.0
"""Within this time a client sends its whole request, and reads what it is sent."""
LINGER_SECONDS = 1.0
"""How long we still read after a refusal: closing at once would reset the connection,
and the client could lose the reply."""


class Connection(H11Protocol):
    """One connection, which serves one request."""

    transport: asyncio.Transport
    # Of one server: `limited` gives each its own.
    _open: ClassVar[dict["Connection", None]]
    _sockets: ClassVar[dict["Connection", None]]
    _large_paths: ClassVar[frozenset[bytes]]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request; make room by closing the one waiting longest."""
        super().connection_made(transport)
        self._received = bytearray()
        self._length: int | None = None  # of the request, once its head is there
        self._is_large = self._is_whole = self._is_refused = False
        self._timer = self.loop.call_later(REQUEST_SECONDS, self._too_slow)
        self._sockets[self] = None
        if len(self._sockets) > MOST_SOCKETS:
            oldest = next(c for c in self._sockets if c not in self._open)
            oldest.abort()
        if len(self._open) >= MOST_CONNECTIONS:
            waiting = next((c for c in self._open if not c.is_whole), None)
            if waiting is None:
                self.refuse(503, "too many connections: try again")
                return
            waiting.refuse(408, "too many connections, and no whole request")
        self._open[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._open.pop(self, None)
        self._sockets.pop(self, None)
        self._timer.cancel()
        super().connection_lost(exc)

    @property
    def is_whole(self) -> bool:
        """Whether the whole request has come."""
        return self._is_whole

    @property
    def is_large(self) -> bool:
        """Whether a large body is to come, or has come."""
        return self._is_large

    def data_received(self, data: bytes) -> None:
        """Gather a request, and pass it on when it is whole; ignore what follows it."""
        if self._is_refused or self._is_whole:
            return
        self._received += data
        try:
            if self._length is None:
                self._length = self._announced()
        except Refusal as refusal:
            self.refuse(refusal.status, refusal.reason)
            return
        if self._length is None or len(self._received) < self._length:
            return
        self._is_whole = True
        self._timer.cancel()
        request, self._received = bytes(self._received[: self._length]), bytearray()
        super().data_received(request)

    def refuse(self, status: int, reason: str) -> None:
        """Reply with a status and a reason, and close the connection."""
        self._open.pop(self, None)
        self._timer.cancel()
        if self._is_refused or self.transport.is_closing():
            return
        self._is_refused, self._received = True, bytearray()
        self.transport.write(replies.refusal(status, reason))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._timer = self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def abort(self) -> None:
        """Close the connection at once."""
        self._sockets.pop(self, None)
        self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Refuse what h11 can't parse."""
        self.refuse(400, msg)

    def on_response_complete(self) -> None:
        """Give the place to another client; wait for this one to read its reply."""
        self._open.pop(self, None)
        self._wait_for_reader()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Give a client that does not read some time to go on."""
        super().pause_writing()
        self._wait_for_reader()

    def resume_writing(self) -> None:
        """Go on writing."""
        super().resume_writing()
        self._timer.cancel()

    def shutdown(self) -> None:
        """Close the connection when the server ends, at once if there is no request."""
        if self._is_whole and not self._is_refused:
            super().shutdown()
        else:
            self.transport.abort()

    def _announced(self) -> int | None:
        """Return how long the request will be; None before the end of its head."""
        begin = heads.end_of_head(self._received)
        if begin is None:
            return None
        head = bytes(self._received[:begin])
        path = head.split(b" ", 2)[1].partition(b"?")[0]
        large = path in self._large_paths
        body = heads.body_length(head, large)
        if body > heads.MOST_BODY_BYTES:
            if sum(other.is_large for other in self._open) >= MOST_LARGE:
                raise Refusal(503, "too many large requests: try again")
            self._is_large = True
        return begin + body

    def _wait_for_reader(self) -> None:
        self._timer.cancel()
        self._timer = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)

    def _too_slow(self) -> None:
        self.refuse(408, f"no whole request within {REQUEST_SECONDS:g} s")


def limited(large: tuple[str, ...] = ()) -> type[Connection]:
    """Return the class of one server's connections, which are counted together.

    `large` are the paths that take a large body.
    """

    class LimitedConnection(Connection):
        _open: ClassVar[dict[Connection, None]] = {}
        _sockets: ClassVar[dict[Connection, None]] = {}
        _large_paths: ClassVar[frozenset[bytes]] = frozenset(
            path.encode() for path in large
        )

    return LimitedConnection
