"""Time spent in each part of a run.

Spans may overlap and nest, but each moment counts once. Imports no JAX.
"""

import contextlib
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, get_args

from jax_ttt.runtime import process

Part = Literal["compile", "imports", "train", "evaluate", "write"]
"""Parts of a run. Where two parts overlap, the time belongs to the one listed first."""

Span = tuple[float, float]
"""Begin and end, in seconds of `time.perf_counter()`."""

_MOST_PENDING = 10_000
"""Most spans that are kept: a long run has millions of chunks."""


class TimeSpans:
    """Records when the parts of a run begin and end; safe to share between threads."""

    def __init__(self, own_process: bool = False) -> None:
        """Start to record now; with `own_process`, from the start of the process.

        The time between that start and now counts as `imports`. Where the system
        does not report a process's age, it is 0.
        """
        now = time.perf_counter()
        self._start = now - ((process.age() or 0.0) if own_process else 0.0)
        self._settled = self._start  # earlier spans are kept only as sums
        self._earlier = 0.0  # seconds of earlier processes
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
        """Record the time within the context, also if it ends with an error."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.add(part, begin, time.perf_counter())

    @contextlib.contextmanager
    def recording_compilation(self) -> Iterator[None]:
        """Record JAX's tracing and compiling within the context, in any thread."""
        from jax_ttt.runtime import compile_events

        def compiled(event: str, seconds: float) -> None:
            del event
            end = time.perf_counter()
            self.add("compile", end - seconds, end)

        with compile_events.durations(compiled):
            yield

    def include(self, seconds: Mapping[str, float], total: float) -> None:
        """Add the seconds of each part, and in total, of an earlier process."""
        with self._lock:
            for part in get_args(Part):
                self._sums[part] += seconds.get(part, 0.0)
            self._earlier += total

    def seconds(self) -> dict[Part, float]:
        """Return the seconds of each part; each moment counts once."""
        with self._lock:
            return self._seconds()

    def total(self) -> float:
        """Return the seconds since the start, in any part or none."""
        return self._earlier + time.perf_counter() - self._start

    def _seconds(self) -> dict[Part, float]:
        recent = attributed(self._pending, get_args(Part))
        return {part: self._sums[part] + recent[part] for part in self._sums}


def attributed(
    spans: Mapping[Part, Sequence[Span]], order: Sequence[Part]
) -> dict[Part, float]:
    """Return the seconds of each part; an overlap counts for the earlier in `order`."""
    claimed: list[Span] = []
    seconds: dict[Part, float] = {}
    for part in order:
        before = covered(claimed)
        claimed = [*claimed, *spans.get(part, ())]
        seconds[part] = covered(claimed) - before
    return seconds


def covered(spans: Iterable[Span]) -> float:
    """Return the seconds that at least one of the spans covers; spans may overlap."""
    total, reached = 0.0, float("-inf")
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total
