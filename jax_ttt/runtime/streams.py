"""Standard streams that may be closed, full, or on a terminal that is gone."""

import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from typing import TextIO


@contextlib.contextmanager
def usable() -> Iterator[None]:
    """Replace the standard streams that the caller closed (`>&-`) by empty ones."""
    modes = {"stdin": "r", "stdout": "w", "stderr": "w"}
    closed = [name for name in modes if getattr(sys, name) is None]
    if closed:
        _fill_descriptors()
    with contextlib.ExitStack() as stack:
        for name in closed:
            # Python writes to None only at times: `print(file=None)` goes to stdout.
            file = stack.enter_context(open(os.devnull, modes[name], encoding="utf-8"))
            stack.callback(setattr, sys, name, None)
            setattr(sys, name, file)
        yield


def _fill_descriptors() -> None:
    """Open descriptors 0 to 2 if they are closed.

    Otherwise the next file that is opened takes one of these numbers, and libraries
    that write to stdout or stderr would write to that file.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)


def flush() -> None:
    """Write out stdout, or drop what can't be written."""
    try:
        sys.stdout.flush()
    except OSError:
        drop(sys.stdout)


def drop(stream: TextIO) -> None:
    """Send a stream to nowhere, so that closing it at exit can't fail."""
    with contextlib.suppress(OSError, ValueError):  # it has no descriptor, or is closed
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def drop_terminal() -> None:
    """Drop what is written to a terminal that has hung up: it would be an error."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # it has no descriptor
            kind = os.fstat(stream.fileno()).st_mode
            if stat.S_ISCHR(kind) and not stream.isatty():
                drop(stream)


def tell(message: str) -> None:
    """Print a line on stderr, if it can be written."""
    try:
        print(message, file=sys.stderr, flush=True)
    except OSError:
        drop(sys.stderr)
