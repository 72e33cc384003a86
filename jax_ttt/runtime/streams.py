"""Standard streams that may be closed or full, or whose terminal was closed."""

import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO


@contextlib.contextmanager
def usable() -> Iterator[None]:
    """Open the null device for each standard stream that is closed (`>&-`)."""
    modes = {"stdin": "r", "stdout": "w", "stderr": "w"}
    closed = [name for name in modes if getattr(sys, name) is None]
    if closed:
        _fill_descriptors()
    with contextlib.ExitStack() as stack:
        for name in closed:
            # None is not always ignored: `print(file=None)` writes to stdout.
            file = stack.enter_context(open(os.devnull, modes[name], encoding="utf-8"))
            stack.callback(setattr, sys, name, None)
            setattr(sys, name, file)
        yield


def _fill_descriptors() -> None:
    """Open descriptors 0 to 2 if they are closed.

    Otherwise the next opened file gets one of these numbers, and libraries that write
    to stdout or stderr would write to that file.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)


def flush() -> None:
    """Flush stdout; drop it if it can't be written."""
    try:
        sys.stdout.flush()
    except OSError:
        drop(sys.stdout)


def drop(stream: TextIO) -> None:
    """Redirect a stream to the null device, so that closing it at exit can't fail."""
    with contextlib.suppress(OSError, ValueError):  # closed, or has no descriptor
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def drop_terminal() -> None:
    """Drop the streams of a closed terminal, since writing to them is an error."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # closed, or has no descriptor
            kind = os.fstat(stream.fileno()).st_mode
            if stat.S_ISCHR(kind) and not stream.isatty():
                drop(stream)


def tell(message: str) -> None:
    """Print a line on stderr; ignore it if stderr can't be written."""
    try:
        print(message, file=sys.stderr, flush=True)
    except OSError:
        drop(sys.stderr)


def tell_written(path: Path, size: str = "", as_json: bool = False) -> None:
    """Say that a file was written, and its size in words, for instance `3 rows`.

    It is said on stderr if stdout is one JSON object.
    """
    text = f"wrote {path}: {size}" if size else f"wrote {path}"
    if as_json:
        tell(text)
    else:
        print(text, flush=True)
