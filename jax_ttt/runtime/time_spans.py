"""Time spent in each part of a run. Imports no JAX."""

import contextlib
import time
from collections.abc import Iterator, Mapping
from typing import Literal, get_args

RunPart = Literal["compile", "imports", "train", "evaluate", "write"]
"""Parts of a run. `compile` also holds the time in which programs are read."""


class TimeSpans:
    """A stopwatch for the parts of a run: at most one part runs at a time."""

    def __init__(self) -> None:
        """Start to measure the total; no part runs."""
        self._start = self._since = time.perf_counter()
        self._part: RunPart | None = None
        self._seconds: dict[RunPart, float] = dict.fromkeys(get_args(RunPart), 0.0)
        self._earlier = 0.0  # seconds of earlier processes, in total

    @contextlib.contextmanager
    def recording(self, part: RunPart) -> Iterator[None]:
        """Record the time within the context; a part around it waits meanwhile."""
        outer = self._switch_to(part)
        try:
            yield
        finally:
            self._switch_to(outer)

    def _switch_to(self, part: RunPart | None) -> RunPart | None:
        """Let another part run, or none; return the one that ran."""
        before, now = self._part, time.perf_counter()
        if before is not None:
            self._seconds[before] += now - self._since
        self._part, self._since = part, now
        return before

    def include(self, seconds: Mapping[str, float], total: float) -> None:
        """Add the seconds of each part, and in total, of an earlier process."""
        for part in self._seconds:
            self._seconds[part] += seconds.get(part, 0.0)
        self._earlier += total

    def seconds(self) -> dict[RunPart, float]:
        """Return the seconds of each part so far."""
        self._switch_to(self._part)
        return {**self._seconds}

    def total(self) -> float:
        """Return the seconds since the start, in any part or none."""
        return self._earlier + time.perf_counter() - self._start
