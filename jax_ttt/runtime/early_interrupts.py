"""Ctrl-C while a command starts: it waits until the command begins.

An exception in the middle of an import is a traceback, or is lost in a library's own
handlers. Imports little, since it runs before nearly all other imports.
"""

import signal
import sys
from types import FrameType

_received: list[int] = []


def hold_ctrl_c(package: str, script: str) -> None:
    """Keep Ctrl-C for `raise_held`, if this process runs a command of the package.

    Other programs that import the package, and an ignored Ctrl-C, stay as they are.
    """
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if _runs_command(package, script) and is_default:
        signal.signal(signal.SIGINT, _hold)


def raise_held() -> None:
    """Hold Ctrl-C no longer; raise `KeyboardInterrupt` if it has come."""
    if signal.getsignal(signal.SIGINT) is _hold:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if _received:
        _received.clear()
        raise KeyboardInterrupt


def _runs_command(package: str, script: str) -> bool:
    """Return whether this is `python -m PACKAGE`, a command of it, or its script."""
    program = sys.argv[0] if sys.argv else ""
    if program == "-m":  # so it is until Python has found the module to run
        modules = [word.removeprefix("-m") for word in sys.orig_argv]
        # A module below a command's, such as a maker of files, does not raise it again.
        return any(
            module == package or module.rpartition(".")[0] == package
            for module in modules
        )
    return program.replace("\\", "/").rpartition("/")[2].partition(".")[0] == script


def _hold(number: int, frame: FrameType | None) -> None:
    del frame
    _received.append(number)
