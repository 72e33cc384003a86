"""Serve the page to play on and to watch agents learn, or write it as one file.

python -m jax_ttt.web --open
python -m jax_ttt.web --export page
"""

import contextlib
import dataclasses
import errno
import os
import signal
import socket
import sys
import webbrowser
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from jax_ttt import cli
from jax_ttt.__main__ import run_command
from jax_ttt.config.errors import UsageError
from jax_ttt.config.ranges import Range
from jax_ttt.config.settings import Config
from jax_ttt.files.run_folder import RUNS
from jax_ttt.runtime import streams

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

PORTS = Range(int, 0, 2**16 - 1)
MOST_PORTS = 100
"""How many ports are tried, from the one that is asked for."""
MOST_CONNECTIONS = 800
"""Fewer than the 1,024 files that a process may usually open."""
_LOCAL = ("127.0.0.1", "::1", "localhost")
_EVERYWHERE = ("0.0.0.0", "::")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Serve the page to play on and to watch agents learn.

    Exit codes: 0 done, 1 failed, 2 bad flags or file, 130 Ctrl-C, 143 terminated.
    """

    port: Annotated[int, PORTS] = 8000
    """Port of the page; the next free one if it is taken, any free one if 0."""
    host: str = "127.0.0.1"
    """Address to serve at. Others than this machine's own let everyone in the network
    use the page."""
    open: tyro.conf.FlagCreatePairsOff[bool] = False
    """Open the page in a browser."""
    export: Path | None = None
    """Write the page as one file to this folder, and end: it needs no server."""
    runs: Path = RUNS
    """The folder of the runs whose agents are offered."""
    data_dir: Path | None = None
    """The folder where the agent in training is kept at the end; by default one in the
    user's data folder."""
    machine: cli.MachineFlags = field(default_factory=cli.MachineFlags)


def main(args: Args) -> int:
    """Run the command and return its exit code."""
    if args.export is not None:
        return _export(args.export)
    for module in ("starlette", "uvicorn"):
        cli.require_package(module, "web", "the page")
    with _bound(args.host, args.port) as bound:
        return _serve(args, _data_folder(args.data_dir), bound)


def _serve(args: Args, data: Path | None, bound: socket.socket) -> int:
    """Serve until a signal, and return the exit code."""
    from jax_ttt.web.agent_files import AgentFiles
    from jax_ttt.web.app import make_app
    from jax_ttt.web.live_training import Training, WatchedRun

    files = AgentFiles(args.runs, data)

    def open_run(config: Config, seed: int, stop: Callable[[], bool]) -> WatchedRun:
        _make_ready(args.machine)
        from jax_ttt.web.live_run import LiveRun

        return LiveRun(config, seed, stop)

    training = Training(files, open_run)
    server = make_server(make_app(files, training, _host_names(args.host)))
    signals: list[int] = []

    def end(number: int, frame: object) -> None:
        del frame
        signals.append(number)
        server.should_exit = True

    # uvicorn handles the first two while it serves, and then raises them again.
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows lacks the last one
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)
    address = _address(args.host, bound.getsockname()[1])
    _announce(args.host, address)
    if args.open:
        webbrowser.open(address)
    try:
        server.run([bound])
    finally:
        # A second signal ends the server without the end of the application.
        has_ended = training.close()
    code = cli.report_interrupt(signals[0]) if signals else 0
    if not has_ended:
        _end_at_once(signals[0] if signals else signal.SIGTERM)
    return code


def _end_at_once(number: int) -> None:
    """End the process by a signal, for which a shell has the same exit code.

    Python's own end fails while JAX compiles or computes in a thread.
    """
    sys.stdout.flush()
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


def make_server(app: "ASGIApp") -> "uvicorn.Server":
    """Return a server of an application, with uvicorn's limits."""
    import uvicorn

    config = uvicorn.Config(
        app,
        http="h11",
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="critical",  # the application reports its own faults
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=2**16,
    )
    return uvicorn.Server(config)


def _make_ready(machine: cli.MachineFlags) -> None:
    """Import JAX, and choose its device.

    Raises:
        UsageError: the device is not available.
    """
    from jax_ttt.runtime import compiling, devices

    try:
        devices.choose_device(machine.device)
    except devices.DeviceError as error:
        raise UsageError(str(error)) from None
    compiling.use_program_cache(not machine.no_compile_cache)


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens; if the port is taken, at one of the next ports."""
    try:
        return _listening(host, port)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(
            f"can't serve at --host {host} --port {port}: {reason}; "
            "try another --port or --host"
        ) from None


def _listening(host: str, port: int) -> socket.socket:
    family, _, _, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    refused = OSError(errno.EADDRINUSE, "address in use")
    for number in range(port, min(port + MOST_PORTS, 2**16)):
        bound = socket.socket(family, socket.SOCK_STREAM)
        if sys.platform != "win32":  # there, it would share the port
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((address[0], number, *address[2:]))
            bound.listen()  # a browser that is opened now waits a moment
            return bound
        except OSError as error:
            bound.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            refused = error
    raise refused


def _host_names(host: str) -> list[str]:
    """Return the names that the header Host may have, without the port."""
    addresses = _own_addresses() if host in _EVERYWHERE else {host}
    names = {f"[{name}]" if ":" in name else name for name in addresses}
    return sorted({"127.0.0.1", "localhost", "[::1]", *names})


def _own_addresses() -> set[str]:
    """Return this machine's name and addresses, as far as they can be found."""
    name = socket.gethostname()
    own = {name}
    with contextlib.suppress(OSError):
        own |= {str(address[0]) for *_, address in socket.getaddrinfo(name, None)}
    # The name may stand for this machine alone. An address for documentation, to which
    # nothing is sent, chooses the one that the network knows.
    for family, far in (
        (socket.AF_INET, "192.0.2.1"),
        (socket.AF_INET6, "2001:db8::1"),
    ):
        with (
            contextlib.suppress(OSError),
            socket.socket(family, socket.SOCK_DGRAM) as s,
        ):
            s.connect((far, 9))
            own.add(s.getsockname()[0])
    return own


def _address(host: str, port: int) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/"


def _announce(host: str, address: str) -> None:
    if host not in _LOCAL:
        streams.print_stderr(
            f"warning: --host {host} lets everyone who can reach this machine play, "
            "train, and delete agents that were kept"
        )
    print(f"the page: {address}  (Ctrl-C ends it)", flush=True)


def _data_folder(folder: Path | None) -> Path | None:
    """Return the user's folder, which is made if need be; None if that fails."""
    import platformdirs

    path = folder or platformdirs.user_data_path("jax_ttt", appauthor=False)
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(0, "no permission to write to it")
    except OSError as error:
        if folder is not None:
            raise UsageError(f"--data-dir {folder}: {error.strerror}") from None
        streams.print_stderr(f"warning: no agent is kept: {path}: {error.strerror}")
        return None
    return path


def _export(folder: Path) -> int:
    """Write the page with the shipped agents as one file."""
    from jax_ttt.web import one_file

    try:
        path = one_file.write_page(folder)
    except OSError as error:
        raise UsageError(f"--export {folder}: {error.strerror}") from None
    streams.print_written(path)
    return 0


COMMAND = cli.Command(module="jax_ttt.web", args_type=Args, main=main)

if __name__ == "__main__":
    sys.exit(run_command(COMMAND))
