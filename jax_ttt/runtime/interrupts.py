"""Ctrl-C, SIGTERM and SIGHUP: the first asks to stop, a second one ends the process."""

import contextlib
import signal
import sys
import time
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

from jax_ttt.runtime import line_process, standard_streams

HANGUP: int | None = getattr(signal, "SIGHUP", None)  # not on Windows
SAME_REQUEST = 0.5
"""Seconds within which several signals count as one: `timeout` sends a signal to the
process and then to its group, a closed terminal one and its shell another."""


class StopRequest:
    """The first signal that asked this process to stop: its `number`, 0 before it."""

    def __init__(self, exits: bool = False) -> None:
        self.number = 0
        self._exits = exits
        self._time = 0.0  # of the first signal

    def __bool__(self) -> bool:
        return self.number != 0

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Remember the first signal; end the process by a second one."""
        del frame
        now = time.monotonic()
        if number == HANGUP:
            standard_streams.redirect_closed_terminal()
        if not self.number:
            self.number, self._time = number, now
            if self._exits:
                sys.exit(128 + number)
        elif now - self._time > SAME_REQUEST:
            end_by_signal(number, "interrupted twice: ended at once")


@contextlib.contextmanager
def stop_request(exits: bool = False) -> Iterator[StopRequest]:
    """Turn Ctrl-C, SIGTERM and SIGHUP into a request that the caller reads.

    Or with `exits`, let SIGTERM and SIGHUP exit as a Python program ends: with what it
    has started. Then Ctrl-C stays a `KeyboardInterrupt`.

    Python handles a signal when JAX returns, for instance after a chunk of updates. A
    signal that was ignored before, as SIGHUP under `nohup`, stays ignored.
    """
    request = StopRequest(exits)
    numbers = (
        [signal.SIGTERM, HANGUP] if exits else [signal.SIGINT, signal.SIGTERM, HANGUP]
    )
    before = {
        number: signal.signal(number, request.handle)
        for number in numbers
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def postponed() -> Iterator[None]:
    """Let the first signal wait for the end of this context; a second one ends all.

    An extension module that is being loaded turns `KeyboardInterrupt` into an error of
    its own, or aborts.
    """
    with stop_request() as request:
        yield
    if request:
        signal.raise_signal(request.number)


def end_by_signal(number: int, message: str) -> NoReturn:
    """Print an error, and end this process by a signal: a shell sees 128 + `number`.

    The processes that it has started end too. An exit would wait for threads that
    compile.
    """
    line_process.kill_all()
    # The signal may have come within another print, which is a RuntimeError.
    with contextlib.suppress(OSError, RuntimeError):
        print(f"error: {message}", file=sys.stderr, flush=True)
        sys.stdout.flush()
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)
    sys.exit(128 + number)  # the first process of a container ignores the signal


def report_interrupt(signal_number: int) -> int:
    """Print that a signal ended the work, and return the exit code."""
    standard_streams.print_stderr("error: interrupted")
    return 128 + signal_number
