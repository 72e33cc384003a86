"""Time spans of a run: which part of it each moment belongs to.

The parts may overlap and nest; each moment counts once. Imports no JAX.
"""

import contextlib
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, get_args

from jax_ttt.runtime import compile_events, process

Part = Literal["compile", "imports", "train", "evaluate", "write"]
"""Parts of a run. A moment of two parts belongs to the one that is named first."""

Span = tuple[float, float]
"""Begin and end, by `time.perf_counter()`."""

_MOST_PENDING = 10_000
"""Spans that are kept, at most: a long run has millions of chunks."""


class TimeSpans:
    """Records when the parts of a run begin and end. Threads may share it."""

    def __init__(self, own_process: bool = False) -> None:
        """Begin to record; with `own_process`, at the start of the process.

        The time until now then counts as `imports`, where the system knows it.
        """
        now = time.perf_counter()
        self._start = now - ((process.age() or 0.0) if own_process else 0.0)
        self._settled = self._start  # spans before this moment are only kept as sums
        self._sums: dict[Part, float] = dict.fromkeys(get_args(Part), 0.0)
        self._pending: dict[Part, list[Span]] = {}
        self._lock = threading.Lock()
        self.add("imports", self._start, now)

    def add(self, part: Part, begin: float, end: float) -> None:
        """Add a span, in seconds of `time.perf_counter()`."""
        with self._lock:
            self._pending.setdefault(part, []).append((max(begin, self._settled), end))
            if sum(map(len, self._pending.values())) >= _MOST_PENDING:
                self._sums = self._seconds()
                ends = (end for spans in self._pending.values() for _, end in spans)
                self._settled, self._pending = max(self._settled, *ends), {}

    @contextlib.contextmanager
    def recording(self, part: Part) -> Iterator[None]:
        """Record the time within the context, however the context ends."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.add(part, begin, time.perf_counter())

    @contextlib.contextmanager
    def recording_compilation(self) -> Iterator[None]:
        """Record what JAX traces and compiles within the context, in any thread."""

        def compiled(event: str, seconds: float) -> None:
            del event
            end = time.perf_counter()
            self.add("compile", end - seconds, end)

        with compile_events.durations(compiled):
            yield

    def seconds(self) -> dict[Part, float]:
        """Return the seconds of each part; each moment counts once."""
        with self._lock:
            return self._seconds()

    def total(self) -> float:
        """Return the seconds since the start, of all parts and of none."""
        return time.perf_counter() - self._start

    def _seconds(self) -> dict[Part, float]:
        recent = attributed(self._pending, get_args(Part))
        return {part: self._sums[part] + recent[part] for part in self._sums}


def attributed(
    spans: Mapping[Part, Sequence[Span]], order: Sequence[Part]
) -> dict[Part, float]:
    """Return the seconds of each part; where two overlap, they are the earlier's."""
    claimed: list[Span] = []
    seconds: dict[Part, float] = {}
    for part in order:
        before = covered(claimed)
        claimed = [*claimed, *spans.get(part, ())]
        seconds[part] = covered(claimed) - before
    return seconds


def covered(spans: Iterable[Span]) -> float:
    """Return how many seconds lie in at least one of the spans, which may nest."""
    total, reached = 0.0, float("-inf")
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total
