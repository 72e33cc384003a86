"""Processes of the benchmark: what they took, from their start on.

Everything that a process would keep for the next one it keeps in a folder of our own.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Child(NamedTuple):
    """What a process took, and what it printed."""

    wall: float
    cpu: float
    output: str


def run_module(
    module: str, args: Sequence[str], cache: Path | None, until: str = ""
) -> Child:
    """Run a module in a process; without `cache` it keeps no compiled programs.

    The wall seconds end where it has printed `until`, if that is given, and waits for
    input. That is then closed, and the CPU seconds are those to its end.

    Raises:
        RuntimeError: it failed, or did not print `until`.
    """
    before, begin, wall = _cpu_seconds(), time.perf_counter(), 0.0
    with tempfile.TemporaryFile() as errors:
        with subprocess.Popen(
            [sys.executable, "-m", module, *args],
            env=_environment(cache),
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


def _read(child: subprocess.Popen[bytes], until: bytes) -> bytes:
    """Return what a process prints, up to this or to its end."""
    output = b""
    while until not in output and child.stdout and (more := child.stdout.read(2**16)):
        output += more
    return output


def _environment(cache: Path | None) -> dict[str, str]:
    """Return the variables of a process that keeps compiled programs in `cache`."""
    variables = dict(os.environ)
    variables.pop("JAX_COMPILATION_CACHE_DIR", None)
    # Asked for by the benchmark, so that its own process leaves a GPU's memory free.
    variables.pop("XLA_PYTHON_CLIENT_PREALLOCATE", None)
    # Whatever the user chose.
    variables["JAX_ENABLE_COMPILATION_CACHE"] = "false" if cache is None else "true"
    if cache is not None:
        variables["JAX_COMPILATION_CACHE_DIR"] = str(cache)
    return variables


def _cpu_seconds() -> float:
    """Return the CPU seconds of all processes that we started and that have ended."""
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
