"""Ctrl-C, SIGTERM and SIGHUP as requests to stop and save."""

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator

from jax_ttt.runtime import streams

HANGUP: int | None = getattr(signal, "SIGHUP", None)  # not on Windows
SAME_REQUEST = 0.1
"""Seconds within which a repeated signal counts as one: `timeout` and other wrappers
send each signal twice."""


class Signals(list[int]):
    """The signals received so far."""

    def __init__(self, last_words: str) -> None:
        super().__init__()
        self.last_words = last_words


class EndedAtOnce(KeyboardInterrupt):
    """The end of a program by a second signal."""

    def __init__(self, number: int, words: str) -> None:
        super().__init__(words)
        self.code = 128 + number


@contextlib.contextmanager
def interruptible(
    last_words: str = "interrupted", watched: bool = False
) -> Iterator[Signals]:
    """Collect Ctrl-C, SIGTERM and SIGHUP in a list; the caller reads it and stops.

    A second Ctrl-C or SIGTERM raises `EndedAtOnce` as soon as JAX returns from
    compiling or computing. If `watched`, it ends the process immediately instead.
    `last_words` is the message in both cases; the list's attribute of this name
    changes it. A SIGHUP that was ignored before (`nohup`) stays ignored.
    """
    signals = Signals(last_words)
    watched = watched and os.name == "posix"

    def note(number: int, frame: object) -> None:
        del frame
        if number == HANGUP:
            streams.drop_terminal()
        elif signals and not watched:
            raise EndedAtOnce(number, signals.last_words)
        signals.append(number)

    numbers: list[int] = [signal.SIGINT, signal.SIGTERM]
    if HANGUP is not None and signal.getsignal(HANGUP) is not signal.SIG_IGN:
        numbers.append(HANGUP)
    before = [signal.signal(number, note) for number in numbers]
    try:
        with _watching(signals, numbers) if watched else contextlib.nullcontext():
            yield signals
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


@contextlib.contextmanager
def _watching(signals: Signals, numbers: list[int]) -> Iterator[None]:
    """End the process at a second signal.

    A thread reads the signals from a pipe: Python calls a handler only after JAX has
    returned, and JAX may compile or compute for minutes.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(
        target=_watch, args=(reading, signals, numbers), daemon=True
    ).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writing)


def _watch(reading: int, signals: Signals, numbers: list[int]) -> None:
    first = None
    while byte := os.read(reading, 1):
        number, now = byte[0], time.monotonic()
        if number not in numbers:
            continue
        line = "\n" if sys.stderr.isatty() else ""  # below the bar
        if first is None:
            first = now
            if number == signal.SIGINT and line:
                streams.tell(
                    f"{line}interrupted: ending after these updates, then saving; "
                    "Ctrl-C again ends at once, without saving"
                )
        elif number != HANGUP and now - first > SAME_REQUEST:
            streams.tell(f"{line}error: {signals.last_words}")
            os._exit(128 + number)
    os.close(reading)
