"""Serve the page to play on and to watch agents learn, or write it as files.

python -m jax_ttt.web --open
python -m jax_ttt.web --export page
"""

import contextlib
import dataclasses
import errno
import signal
import socket
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro
from msgspec import Meta

from jax_ttt import cli
from jax_ttt.__main__ import run_command
from jax_ttt.config.errors import Refused, require_package
from jax_ttt.files.run_folder import RUNS
from jax_ttt.runtime import standard_streams

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

MAX_PORTS = 100
"""Maximum number of ports that are tried, from --port on."""
MAX_CONNECTIONS = 800
"""Fewer than the 1,024 files that a process may open on most systems."""
_LOCAL = ("127.0.0.1", "::1", "localhost")
_EVERYWHERE = ("0.0.0.0", "::")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Serve the page to play on and to watch agents learn.

    Exit codes: 0 done, 1 failed, 2 bad flags or file, 130 Ctrl-C, 143 terminated.
    """

    port: Annotated[int, Meta(ge=0, le=2**16 - 1)] = 8000
    """Port of the page; the next free one if it is taken, any free one if 0."""
    host: str = "127.0.0.1"
    """Address to serve at. Others than this machine's own let everyone in the network
    use the page."""
    open: tyro.conf.FlagCreatePairsOff[bool] = False
    """Open the page in a browser."""
    export: Path | None = None
    """Write the page to this folder, and end: `index.html` for a static host, and
    `offline.html`, the same in one file."""
    runs: Path = RUNS
    """The folder of the runs: their agents are offered, and those in training can be
    watched."""


def main(args: Args) -> int:
    """Run the command and return its exit code."""
    if args.export is not None:
        return _export(args.export)
    for module in ("starlette", "uvicorn"):
        require_package(module, "web", "the page")
    with open_socket(args.host, args.port) as listener:
        return _serve(args, listener)


def _serve(args: Args, listener: socket.socket) -> int:
    """Serve until a signal, and return the exit code."""
    from jax_ttt.web.agent_files import AgentCollection
    from jax_ttt.web.app import make_app

    server = make_server(make_app(AgentCollection(args.runs), _host_names(args.host)))
    signals: list[int] = []

    def end(number: int, frame: object) -> None:
        del frame
        signals.append(number)
        server.should_exit = True

    # While uvicorn serves, it handles the first two; then it raises them again.
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows lacks the last one
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)
    address = _address(args.host, listener.getsockname()[1])
    _announce(args.host, address)
    if args.open:
        webbrowser.open(address)
    server.run([listener])
    # A signal is how a server is ended, so it is no error.
    return 128 + signals[0] if signals else 0


def make_server(
    app: "ASGIApp", most_connections: int = MAX_CONNECTIONS
) -> "uvicorn.Server":
    """Return a server of an application, with limits against slow or many clients.

    A request on a connection above `most_connections` is answered with 503.
    """
    import uvicorn

    config = uvicorn.Config(
        app,
        http="h11",
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="critical",  # the application prints its errors itself
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=most_connections,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=2**16,
    )
    return uvicorn.Server(config)


def open_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket at a port, or at one of the next if it is taken.

    Raises:
        Refused: no port is free, or the host is not of this machine.
    """
    try:
        return _listen_at_free_port(host, port)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Refused(
            f"can't serve at --host {host} --port {port}: {reason}; "
            "try another --port or --host"
        ) from None


def _listen_at_free_port(host: str, port: int) -> socket.socket:
    family, _, _, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    refused = OSError(errno.EADDRINUSE, "address in use")
    for number in range(port, min(port + MAX_PORTS, 2**16)):
        listener = socket.socket(family, socket.SOCK_STREAM)
        if sys.platform != "win32":  # there, two servers would share the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((address[0], number, *address[2:]))
            listener.listen()  # now a browser can connect, and waits for the server
            if number != port:
                standard_streams.print_stderr(
                    f"note: --port {port}: {refused.strerror}; {number} is used instead"
                )
            return listener
        except OSError as error:
            listener.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            refused = error
    raise refused


def _host_names(host: str) -> list[str]:
    """Return the names that the header Host may have, without ports."""
    addresses = _own_addresses() if host in _EVERYWHERE else {host}
    names = {f"[{name}]" if ":" in name else name for name in addresses}
    return sorted({"127.0.0.1", "localhost", "[::1]", *names})


def _own_addresses() -> set[str]:
    """Return this machine's name and addresses, as far as they can be found."""
    name = socket.gethostname()
    addresses = {name}
    with contextlib.suppress(OSError):
        addresses |= {str(address[0]) for *_, address in socket.getaddrinfo(name, None)}
    # The name may resolve to 127.0.0.1 only. A datagram socket that is connected to an
    # address for documentation has the network's address; connecting it sends nothing.
    for family, far in (
        (socket.AF_INET, "192.0.2.1"),
        (socket.AF_INET6, "2001:db8::1"),
    ):
        with (
            contextlib.suppress(OSError),
            socket.socket(family, socket.SOCK_DGRAM) as s,
        ):
            s.connect((far, 9))
            addresses.add(s.getsockname()[0])
    return addresses


def _address(host: str, port: int) -> str:
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://{f'[{name}]' if ':' in name else name}:{port}/"


def _announce(host: str, address: str) -> None:
    if host not in _LOCAL:
        standard_streams.print_stderr(
            f"warning: --host {host} lets everyone who can reach this machine read the "
            "agents and the runs"
        )
    print(f"the page: {address}  (Ctrl-C ends it)", flush=True)


def _export(folder: Path) -> int:
    """Write the page with the shipped agents."""
    from jax_ttt.web import export

    try:
        path = export.write_page(folder)
    except OSError as error:
        raise Refused(f"--export {folder}: {error.strerror}") from None
    standard_streams.print_written(path)
    return 0


COMMAND = cli.Command(module="jax_ttt.web", args_type=Args, main=main)

if __name__ == "__main__":
    sys.exit(run_command(COMMAND))
