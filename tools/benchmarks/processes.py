"""Processes of the benchmark, timed from their start.

Each process uses a cache folder of the benchmark instead of the user's.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
"""The folder in which `python -m tools...` works."""
_POLL_SECONDS = 0.02


class Child(NamedTuple):
    """The wall and CPU seconds of a process, and its output."""

    wall: float
    cpu: float
    output: str


class Watched(NamedTuple):
    """How a process with a time limit ended."""

    seconds: float
    """Wall seconds until its end, or until it was killed at its limit."""
    code: int | None
    """Its exit code; None if it was killed at its limit."""
    moments: dict[str, float]
    """Seconds until each event that happened, by the event's name."""
    output: str
    """All that it printed, on stdout and stderr."""


def run_module(
    module: str,
    args: Sequence[str],
    cache: Path | None,
    until: str = "",
) -> Child:
    """Run a module in a process; without `cache` it caches no compiled programs.

    If `until` is given, the wall seconds end when the process has printed it. The
    input is then closed. CPU seconds count the whole process. It gets this process's
    environment and runs in the repository's root.

    Raises:
        RuntimeError: the process failed, or did not print `until`.
    """
    before, begin, wall = _cpu_seconds(), time.perf_counter(), 0.0
    with tempfile.TemporaryFile() as errors:
        with subprocess.Popen(
            [sys.executable, "-m", module, *args],
            env=_environment(cache),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            bufsize=0,
        ) as child:
            output = _read(child, until.encode())
            if until:
                wall = time.perf_counter() - begin
            output += child.communicate()[0]
        wall = wall or time.perf_counter() - begin
        if child.returncode or until.encode() not in output:
            errors.seek(0)
            raise RuntimeError(f"python -m {module} failed: {errors.read().decode()}")
    return Child(wall, _cpu_seconds() - before, output.decode())


def watch_module(
    module: str,
    args: Sequence[str],
    cache: Path,
    folder: Path,
    limit: int,
    events: Mapping[str, Callable[[Path, str], bool]],
) -> Watched:
    """Run a module in a process in `folder`, and kill it after `limit` seconds.

    Compiled programs are cached in `cache`. `events` are functions of the folder and of
    the output so far: while the process runs, each is asked some fifty times a second
    whether its event has happened, until it has.
    """
    variables = _environment(cache)
    paths = [str(ROOT), *filter(None, [variables.get("PYTHONPATH")])]
    # Its output is a file, into which Python would print late.
    variables |= {"PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"}
    moments: dict[str, float] = {}
    with tempfile.TemporaryFile() as written:

        def output() -> str:
            # The process writes at the same file offset, so it must stay where it is.
            return os.pread(written.fileno(), 2**24, 0).decode(errors="replace")

        begin = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, "-m", module, *args],
            env=variables,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=subprocess.STDOUT,
        ) as child:
            try:
                code, seconds = None, 0.0
                while code is None and seconds < limit:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        code = child.wait(min(_POLL_SECONDS, limit - seconds))
                    seconds = time.perf_counter() - begin
                    for name in events.keys() - moments.keys():
                        if events[name](folder, output()):
                            moments[name] = seconds
            finally:
                child.kill()  # does nothing if it has ended
        return Watched(seconds, code, moments, output())


def _read(child: subprocess.Popen[bytes], until: bytes) -> bytes:
    """Return the output of a process up to `until` or to its end."""
    output = b""
    while until not in output and child.stdout and (more := child.stdout.read(2**16)):
        output += more
    return output


def _environment(cache: Path | None) -> dict[str, str]:
    """Return the environment of a process that caches programs in `cache`."""
    variables = dict(os.environ)
    variables.pop("JAX_COMPILATION_CACHE_DIR", None)
    # The benchmark sets it for its own process, to leave GPU memory free.
    variables.pop("XLA_PYTHON_CLIENT_PREALLOCATE", None)
    # It overrides the user's choice.
    variables["JAX_ENABLE_COMPILATION_CACHE"] = "false" if cache is None else "true"
    if cache is not None:
        variables["JAX_COMPILATION_CACHE_DIR"] = str(cache)
    return variables


def _cpu_seconds() -> float:
    """Return the CPU seconds of all finished child processes."""
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
