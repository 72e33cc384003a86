"""Serve the page to play on and to watch agents learn, or write it as static files.

python -m jax_ttt.web --open
python -m jax_ttt.web --export page
"""

import dataclasses
import os
import socket
import sys
import webbrowser
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from jax_ttt import cli
from jax_ttt.__main__ import run_command
from jax_ttt.config.errors import UsageError
from jax_ttt.config.ranges import Range
from jax_ttt.files.run_folder import RUNS
from jax_ttt.runtime import streams

if TYPE_CHECKING:
    from jax_ttt.serving.checks import Checked
    from jax_ttt.serving.loading import Loading
    from jax_ttt.web.services import Services

PORTS = Range(int, 0, 2**16 - 1)
_LOCAL = ("127.0.0.1", "::1", "localhost")


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
    """Write the pages as static files to this folder, and end: they need no server."""
    runs: Path = RUNS
    """The folder of the runs whose agents are offered."""
    data_dir: Path | None = None
    """The folder of statistics and imported agents; by default one in the user's data
    folder."""
    machine: cli.Machine = field(default_factory=cli.Machine)


def main(args: Args) -> int:
    """Run the command and return its exit code."""
    if args.export is not None:
        return _export(args, args.export)
    for module in ("starlette", "uvicorn"):
        cli.require(module, "web", "the page")
    bound = _bound(args.host, args.port)
    with bound:
        signal_number = _serve(args, _data_folder(args.data_dir), bound)
    return cli.interrupted(signal_number) if signal_number else 0


def _serve(args: Args, data: Path | None, bound: socket.socket) -> int:
    """Serve until the end, keep everything, and return the signal that ended it, or 0.

    Loading JAX can't be stopped, so an early end waits for the services.
    """
    from jax_ttt.serving import server as servers
    from jax_ttt.serving.loading import Loading
    from jax_ttt.web import app

    port = bound.getsockname()[1]
    loading: Loading[Services] = Loading()
    server = servers.Server(_checked(args, port, loading), loading.end, app.LARGE)
    _announce(args.host, port)
    loading.begin(lambda: _load(args, data), server.stop)
    if args.open:
        webbrowser.open(_address(args.host, port))
    try:
        return servers.serve(server, bound)
    finally:
        loading.made().close()


def _checked(args: Args, port: int, loading: "Loading[Services]") -> "Checked":
    """Return the page's application, which checks each request."""
    from jax_ttt.serving import static_files
    from jax_ttt.serving.checks import Checked
    from jax_ttt.web import app

    files = static_files.read_files(Path(__file__).parent / "static")
    everywhere = args.host in ("0.0.0.0", "::", "")
    names = (f"[{args.host}]" if ":" in args.host else args.host,)
    if everywhere:
        names = (socket.gethostname(),)
    return Checked(app.make_app(loading, files), port, names, everywhere)


def _load(args: Args, data: Path | None) -> "Services":
    """Import JAX and make the services, in a thread."""
    from jax_ttt.runtime import devices

    try:
        devices.choose_device(args.machine.device)
    except devices.DeviceError as error:
        raise UsageError(str(error)) from None
    from jax_ttt.runtime import compile_cache

    compile_cache.use(not args.machine.no_compile_cache)
    from jax_ttt.live.live_training import LiveTraining
    from jax_ttt.web.services import make_services

    return make_services(args.runs, data, LiveTraining())


def _bound(host: str, port: int) -> socket.socket:
    from jax_ttt.serving import server as servers

    try:
        return servers.listening(host, port)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(
            f"can't serve at --host {host} --port {port}: {reason}; "
            "try another --port or --host"
        ) from None


def _address(host: str, port: int) -> str:
    shown = "127.0.0.1" if host in ("0.0.0.0", "") else host
    shown = "::1" if shown == "::" else shown
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/"


def _announce(host: str, port: int) -> None:
    if host not in _LOCAL:
        streams.tell(
            f"warning: --host {host} lets everyone who can reach this machine play, "
            "train, and change the statistics"
        )
    print(f"the page: {_address(host, port)}  (Ctrl-C ends it)", flush=True)


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
        streams.tell(f"warning: statistics are not kept: {path}: {error.strerror}")
        return None
    return path


def _export(args: Args, folder: Path) -> int:
    """Write the page with the shipped agents as static files."""
    cli.set_up(args.machine)

    from jax_ttt.web import export

    try:
        paths = export.write_page(folder), export.write_connect_four(folder)
    except OSError as error:
        raise UsageError(f"--export {folder}: {error.strerror}") from None
    for path in paths:
        streams.tell_written(path)
    return 0


COMMAND = cli.Command(module="jax_ttt.web", args_type=Args, main=main)

if __name__ == "__main__":
    sys.exit(run_command(COMMAND))
