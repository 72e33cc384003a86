"""The process of a command; a distributed one also ends with a line and an exit code.

JAX's runtime aborts a process when another one is lost, and a Python program can't
catch that. So the work is done in a child process, and its parent prints the line.
"""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import NoReturn

from jax_ttt.runtime import process, streams

PATIENCE = 60
"""Seconds in which all processes have to come."""
LOST = (
    "another process of this run has ended or can't be reached: the run ends here; "
    "--resume continues it from the last checkpoint, with as many processes as you like"
)
ABSENT = (
    f"--distributed: not all processes came within {PATIENCE} seconds; each needs the "
    "same --coordinator and --num-processes, and its own --process-id"
)
_FORWARDED = ("SIGTERM", "SIGHUP")

_notes: int | None = None
"""In a child, the pipe that tells its parent that all processes came."""


def run(command: Callable[[None], int]) -> NoReturn:
    """Run the command of this process, and end the process with its exit code.

    A distributed command runs in a child process. What JAX's runtime itself writes to
    stdout and stderr is dropped there. If the runtime ended the child, the exit code
    is 1, or 2 if not all processes came.
    """
    if "--distributed" not in sys.argv or not hasattr(os, "fork"):
        process.end(command(None))
    with streams.usable():
        code = _run_in_child(command)
    process.end(code)


def _run_in_child(command: Callable[[None], int]) -> int:
    global _notes
    reading, writing = os.pipe()
    notes, _notes = os.pipe()
    child = os.fork()
    if child:
        os.close(reading)
        os.close(_notes)
        return _exit_code(child, notes)
    os.close(writing)
    os.close(notes)
    threading.Thread(target=_end_with_parent, args=(reading,), daemon=True).start()
    _keep_streams_for_python()
    return command(None)


def note_joined() -> None:
    """Let the parent know that all processes came."""
    if _notes is not None:
        os.write(_notes, b"+")


def _exit_code(child: int, notes: int) -> int:
    def forward(number: int, frame: object) -> None:
        del frame
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, number)

    for name in _FORWARDED:
        signal.signal(getattr(signal, name), forward)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to both
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return code
    if code == -signal.SIGABRT:
        joined = bool(os.read(notes, 1))
        streams.tell(f"error: {LOST if joined else ABSENT}")
        return 1 if joined else 2
    streams.tell(f"error: the process was ended by {signal.Signals(-code).name}")
    return 128 - code


def _end_with_parent(reading: int) -> None:
    """Wait for the end of the pipe, which is the end of the parent."""
    with contextlib.suppress(OSError):
        os.read(reading, 1)
    os._exit(1)


def _keep_streams_for_python() -> None:
    """Drop what is written to descriptors 1 and 2, but not what Python prints."""
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        getattr(sys, name).flush()
        own = os.dup(descriptor)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)
        setattr(sys, name, open(own, "w", encoding="utf-8", buffering=1))  # noqa: SIM115
