"""This process: its age, its memory, the versions of its libraries."""

import atexit
import contextlib
import functools
import gc
import os
import sys
import threading
import time
from pathlib import Path
from typing import NoReturn

_LIBRARIES = ("jax", "jaxlib", "flax", "optax", "pgx", "numpy")


def age() -> float | None:
    """Return the seconds since this process started; None outside Linux."""
    try:
        # The name, in brackets, may contain spaces; field 22 is the start time.
        text = Path("/proc/self/stat").read_text(encoding="ascii", errors="replace")
        ticks = int(text.rpartition(")")[2].split()[19])
        now = time.clock_gettime(time.CLOCK_BOOTTIME)
        seconds = now - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, ValueError, IndexError):
        return None
    return seconds if seconds >= 0 else None


def peak_mib() -> float | None:
    """Return the peak memory of this process in MiB; None on Windows."""
    # Linux's ru_maxrss includes the parent's memory when it started this process.
    with contextlib.suppress(OSError, KeyError):
        status = Path("/proc/self/status").read_text("utf-8", errors="replace")
        fields = dict(line.split(":", 1) for line in status.splitlines())
        return int(fields["VmHWM"].split()[0]) / 1024
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024  # bytes per unit of ru_maxrss
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def collect_rarely() -> None:
    """Look for unused objects rarely and not at the end: most of what is made stays."""
    gc.set_threshold(500_000)
    atexit.register(gc.freeze)


def end(code: int) -> NoReturn:
    """End the process without freeing its memory, which takes Python 50 ms.

    As with `sys.exit`, threads are waited for, the functions of `atexit` are called,
    and stdout and stderr are flushed; other files must be closed before.
    """
    threading._shutdown()  # pyright: ignore[reportAttributeAccessIssue]
    atexit._run_exitfuncs()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with contextlib.suppress(OSError, ValueError):  # full or closed
            stream.flush()
    os._exit(code)


@functools.cache
def versions() -> dict[str, str]:
    """Return the versions of the libraries that results depend on."""
    from importlib.metadata import version

    return {name: version(name) for name in _LIBRARIES}
