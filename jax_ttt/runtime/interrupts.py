"""Ctrl-C, SIGTERM and SIGHUP as requests to stop and save."""

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from jax_ttt.runtime import streams

HANGUP: int | None = getattr(signal, "SIGHUP", None)  # not on Windows
SAME_REQUEST = 0.1
"""Seconds within which a repeated signal counts as one: `timeout` and other wrappers
send each signal twice."""
STOPPING = "stopping after these updates; again: leave without saving"
"""What a terminal shows at the first Ctrl-C during training."""


class Signals(list[int]):
    """The signals received so far, and what is shown of the first and the second.

    While `nothing_to_save` is true, a watched process leaves at the first one.
    """

    def __init__(self, first_words: str, last_words: str) -> None:
        super().__init__()
        self.first_words, self.last_words = first_words, last_words
        self.nothing_to_save = False


class EndedAtOnce(KeyboardInterrupt):
    """The end of a program by a second signal."""

    def __init__(self, number: int, words: str) -> None:
        super().__init__(words)
        self.code = 128 + number


@contextlib.contextmanager
def interruptible(
    last_words: str = "interrupted",
    watched: bool = False,
    first_words: str = STOPPING,
    leaves: bool = True,
) -> Iterator[Signals]:
    """Collect Ctrl-C, SIGTERM and SIGHUP in a list; the caller reads it and stops.

    If `watched`, a terminal shows `first_words` at the first Ctrl-C, even while JAX
    compiles or computes. A second Ctrl-C or SIGTERM raises `EndedAtOnce` as soon as JAX
    returns; if `watched` and `leaves`, it ends the process immediately instead. If
    `watched`, so does the first signal while there is `nothing_to_save`. `last_words`
    is the message at a second signal; the list's attributes of these names change the
    messages. A SIGHUP that was ignored before (`nohup`) stays ignored.
    """
    signals = Signals(first_words, last_words)
    watched = watched and os.name == "posix"

    def note(number: int, frame: object) -> None:
        del frame
        if number == HANGUP:
            streams.drop_terminal()
        elif signals and not (watched and leaves):
            raise EndedAtOnce(number, signals.last_words)
        signals.append(number)

    numbers: list[int] = [signal.SIGINT, signal.SIGTERM]
    if HANGUP is not None and signal.getsignal(HANGUP) is not signal.SIG_IGN:
        numbers.append(HANGUP)
    heard = _answers(signals, leaves)
    with _handled(dict.fromkeys(numbers, note), heard if watched else None):
        yield signals


def _answers(signals: Signals, leaves: bool) -> Callable[[int], None]:
    """Return what the watching thread does at each signal."""
    begun: list[float] = []

    def heard(number: int) -> None:
        now = time.monotonic()
        if signals.nothing_to_save:
            _leave(number, signals.first_words)
        elif not begun:
            begun.append(now)
            if number == signal.SIGINT:
                _show(signals.first_words)
        elif leaves and number != HANGUP and now - begun[0] > SAME_REQUEST:
            _leave(number, signals.last_words)

    return heard


@contextlib.contextmanager
def leaving_at_once(watched: bool) -> Iterator[None]:
    """End the process at the first Ctrl-C, even while JAX is imported or compiles.

    Only if `watched`, and not where Ctrl-C is ignored. In it, the other contexts of
    this module replace it.
    """
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if not watched or ignored or os.name != "posix":
        yield
        return
    with _handled({signal.SIGINT: _pass}, lambda number: _leave(number, "interrupted")):
        yield


@contextlib.contextmanager
def announced(words: str, watched: bool) -> Iterator[None]:
    """Raise `KeyboardInterrupt` at Ctrl-C as soon as JAX returns.

    If `watched`, a terminal shows `words` immediately.
    """
    if not watched or os.name != "posix":
        yield
        return
    with _handled(
        {signal.SIGINT: signal.default_int_handler}, lambda number: _show(words)
    ):
        yield


@contextlib.contextmanager
def raising() -> Iterator[None]:
    """Raise `KeyboardInterrupt` at Ctrl-C, for instance while a person is asked.

    It replaces `leaving_at_once` meanwhile. Where Ctrl-C is ignored, it stays ignored.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield
        return
    handlers: dict[int, Callable] = {signal.SIGINT: signal.default_int_handler}
    with _handled(handlers, (lambda _: None) if os.name == "posix" else None):
        yield


def leave_on_import() -> None:
    """Let Ctrl-C end the process in one line while a command's modules are imported."""

    def leave(number: int, frame: object) -> None:
        del frame
        _leave(number, "interrupted")

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)


def _pass(number: int, frame: object) -> None:
    del number, frame


def _show(words: str) -> None:
    """Show a line on a terminal, below a progress bar."""
    if sys.stderr.isatty():
        streams.tell(f"\n{words}")


def _leave(number: int, words: str) -> None:
    below = "\n" if sys.stderr.isatty() else ""  # a progress bar
    streams.tell(f"{below}error: {words}")
    os._exit(128 + number)


@contextlib.contextmanager
def _handled(
    handlers: dict[int, Callable], heard: Callable[[int], None] | None
) -> Iterator[None]:
    """Handle signals; a thread calls `heard` with each of them immediately."""
    before = {number: signal.signal(number, do) for number, do in handlers.items()}
    try:
        with _watching(heard, [*handlers]) if heard else contextlib.nullcontext():
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _watching(heard: Callable[[int], None], numbers: Sequence[int]) -> Iterator[None]:
    """Call `heard` in a thread, which reads the signals from a pipe.

    Python calls a handler only after JAX has returned, and JAX may compile or compute
    for minutes.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reading, heard, numbers), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writing)


def _watch(reading: int, heard: Callable[[int], None], numbers: Sequence[int]) -> None:
    while byte := os.read(reading, 1):
        if byte[0] in numbers:
            heard(byte[0])
    os.close(reading)
