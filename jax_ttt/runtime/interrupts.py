"""Ctrl-C, SIGTERM and SIGHUP as requests to save and stop."""

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import FrameType

from jax_ttt.runtime import standard_streams

HANGUP: int | None = getattr(signal, "SIGHUP", None)  # not on Windows
SAME_REQUEST = 0.1
"""Seconds within which several signals count as one: `timeout` and other wrappers send
a signal to the process and then to its group."""


class StopRequest:
    """The first signal that asked this process to stop: its `number`, 0 before it."""

    def __init__(self) -> None:
        self.number = 0
        self._time = 0.0  # of the first signal

    def __bool__(self) -> bool:
        return self.number != 0

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Remember the first signal; raise `SecondSignal` at a later Ctrl-C or SIGTERM.

        A later SIGHUP is ignored: a closed terminal sends one, and its shell another.
        """
        del frame
        now = time.monotonic()
        if number == HANGUP:
            standard_streams.redirect_closed_terminal()
        if not self.number:
            self.number, self._time = number, now
        elif number != HANGUP and now - self._time > SAME_REQUEST:
            raise SecondSignal(number)


@contextlib.contextmanager
def exit_on_signals(is_needed: bool) -> Iterator[None]:
    """Exit at SIGTERM and SIGHUP as a Python program ends: with what it has started.

    Without this, or if it is not needed, these signals end the process at once. A
    handler of the caller's, and a SIGHUP that was ignored before (`nohup`), stay.
    """

    def handle(number: int, frame: FrameType | None) -> None:
        del frame
        sys.exit(128 + number)

    numbers = [number for number in (signal.SIGTERM, HANGUP) if number is not None]
    defaults = [n for n in numbers if signal.getsignal(n) == signal.SIG_DFL]
    with _handled_signals(defaults if is_needed else [], handle):
        yield


@contextlib.contextmanager
def _handled_signals(
    numbers: Sequence[int], handle: Callable[[int, FrameType | None], None]
) -> Iterator[None]:
    """Handle these signals within the context, and after it as before."""
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class SecondSignal(KeyboardInterrupt):
    """A second signal: the program ends without saving."""

    def __init__(self, number: int) -> None:
        super().__init__("interrupted twice: ended at once")
        self.number = number


def end_process(number: int) -> None:
    """End this process by a signal, if its end would wait for threads that compile.

    A shell sees the same exit code as that of a process that exits: 128 + `number`.
    """
    others = {*threading.enumerate()} - {threading.main_thread()}
    if any(not thread.daemon for thread in others):
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)


@contextlib.contextmanager
def stop_request() -> Iterator[StopRequest]:
    """Turn Ctrl-C, SIGTERM and SIGHUP into a request that the caller reads.

    Python handles a signal when JAX returns, for instance after a chunk of updates. A
    SIGHUP that was ignored before (`nohup`) stays ignored.

    Raises:
        SecondSignal: Ctrl-C or SIGTERM followed another signal.
    """
    request = StopRequest()
    numbers: list[int] = [signal.SIGINT, signal.SIGTERM]
    if HANGUP is not None and signal.getsignal(HANGUP) is not signal.SIG_IGN:
        numbers.append(HANGUP)
    with _handled_signals(numbers, request.handle):
        yield request


def report_interrupt(signal_number: int) -> int:
    """Print that a signal ended the work, and return the exit code."""
    standard_streams.print_stderr("error: interrupted")
    return 128 + signal_number
