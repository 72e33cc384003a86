"""Ctrl-C, SIGTERM and SIGHUP as requests to stop and save."""

import contextlib
import signal
import time
from collections.abc import Iterator
from types import FrameType

from jax_ttt.runtime import streams

HANGUP: int | None = getattr(signal, "SIGHUP", None)  # not on Windows
SAME_REQUEST = 0.1
"""Seconds within which a repeated signal counts as one: `timeout` and other wrappers
send each signal twice."""


class StopRequest:
    """Whether a signal has asked this process to stop: `number`, or 0 if none has."""

    def __init__(self) -> None:
        self.number = 0
        self._came = 0.0  # time of the first signal

    def __bool__(self) -> bool:
        return self.number != 0

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Note the first signal; raise `SecondSignal` at a later Ctrl-C or SIGTERM."""
        del frame
        now = time.monotonic()
        if number == HANGUP:
            streams.redirect_closed_terminal()
        if not self.number:
            self.number, self._came = number, now
        # A closed terminal hangs up twice: its shell does so too.
        elif number != HANGUP and now - self._came > SAME_REQUEST:
            raise SecondSignal(number)


class SecondSignal(KeyboardInterrupt):
    """The end of a program by a second signal."""

    def __init__(self, number: int) -> None:
        super().__init__("interrupted twice: ended at once")
        self.number = number


@contextlib.contextmanager
def stop_request() -> Iterator[StopRequest]:
    """Turn Ctrl-C, SIGTERM and SIGHUP into a request, which the caller reads.

    Python handles a signal when JAX returns: after a chunk of updates, or once a
    program is compiled. A SIGHUP that was ignored before (`nohup`) stays ignored.

    Raises:
        SecondSignal: Ctrl-C or SIGTERM came after another signal.
    """
    request = StopRequest()
    numbers: list[int] = [signal.SIGINT, signal.SIGTERM]
    if HANGUP is not None and signal.getsignal(HANGUP) is not signal.SIG_IGN:
        numbers.append(HANGUP)
    before = {number: signal.signal(number, request.handle) for number in numbers}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
