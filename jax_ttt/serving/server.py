"""The server: its socket, its run, its end."""

import asyncio
import contextlib
import errno
import signal
import socket
import sys
from collections.abc import Callable, Iterator

import uvicorn
from starlette.types import ASGIApp

from jax_ttt.serving import connections

MOST_PORTS = 100
"""How many ports are tried, from the one that is asked for."""


def listening(host: str, port: int) -> socket.socket:
    """Return a bound socket; if the port is taken, one of the next ports is used.

    Raises:
        OSError: no port is free, or the host is not an address of this machine.
    """
    family, _, _, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    refused = OSError(errno.EADDRINUSE, "address in use")
    for tried in range(port, min(port + MOST_PORTS, 2**16)):
        bound = socket.socket(family, socket.SOCK_STREAM)
        if sys.platform != "win32":  # there, it would share the port
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((address[0], tried, *address[2:]))
            bound.listen(2 * connections.MOST_CONNECTIONS)
            return bound
        except OSError as error:
            bound.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            refused = error
    raise refused


class Server(uvicorn.Server):
    """Serves an application until `stop` is called or a signal comes."""

    def __init__(
        self, app: ASGIApp, ending: Callable[[], None], large: tuple[str, ...] = ()
    ) -> None:
        """`ending` is called as soon as the server begins to end.

        `large` are the paths that take a large body.
        """
        config = uvicorn.Config(
            app,
            http=connections.limited(large),
            loop="asyncio",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",  # the reply names what is wrong in a request
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
            h11_max_incomplete_event_size=2**16,
        )
        super().__init__(config)
        self.ending = ending
        self.signals: list[int] = []

    def stop(self) -> None:
        """End the server soon; may be called in any thread."""
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Collect the signals that end the server, instead of raising them again."""
        numbers = [signal.SIGINT, signal.SIGTERM]
        hangup = getattr(signal, "SIGHUP", None)  # not on Windows
        if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:
            numbers.append(hangup)
        try:
            before = {number: signal.signal(number, self._note) for number in numbers}
        except ValueError:  # not in the main thread
            yield
            return
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, number: int, frame: object) -> None:
        del frame
        self.signals.append(number)
        self.stop()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then all connections."""
        self.ending()
        await super().shutdown(sockets)


def serve(server: Server, bound: socket.socket) -> int:
    """Serve until the end; return the signal that ended it, 0 if none did."""
    asyncio.run(server.serve([bound]))
    return server.signals[0] if server.signals else 0
