"""The time that each part of a run takes."""

import contextlib
import time
from collections.abc import Iterator, Mapping
from typing import Literal, get_args

RunPart = Literal["compile", "imports", "train", "evaluate", "write"]
"""Parts of a run. `compile` includes reading programs from the cache."""


class TimeSpans:
    """A stopwatch for the parts of a run: at most one part runs at a time."""

    def __init__(self) -> None:
        """Start to measure the total time; no part runs yet."""
        self._start = self._since = time.perf_counter()
        self._part: RunPart | None = None
        self._seconds: dict[RunPart, float] = dict.fromkeys(get_args(RunPart), 0.0)
        self._earlier = 0.0  # total seconds of earlier processes of a resumed run

    @contextlib.contextmanager
    def recording(self, part: RunPart) -> Iterator[None]:
        """Record the time within the context; the part around it is paused."""
        outer = self._switch_to(part)
        try:
            yield
        finally:
            self._switch_to(outer)

    def _switch_to(self, part: RunPart | None) -> RunPart | None:
        """Start another part, or none; return the part that ran before."""
        previous, now = self._part, time.perf_counter()
        if previous is not None:
            self._seconds[previous] += now - self._since
        self._part, self._since = part, now
        return previous

    def include(self, seconds: Mapping[str, float], total: float) -> None:
        """Add the seconds of an earlier process, in each part and in total."""
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
