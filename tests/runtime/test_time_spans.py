"""Time spent in each part of a run: no moment counts twice."""

import contextlib
import time

from jax_ttt.runtime import time_spans
from jax_ttt.runtime.time_spans import TimeSpans


class Clock:
    """Stands for the module `time`; the test sets the time."""

    now = 100.0

    def perf_counter(self):
        return self.now


def test_a_part_within_another_is_not_counted_twice(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(time_spans, "time", clock)
    times = TimeSpans()
    with times.recording("train"):
        clock.now += 1
        with times.recording("write"):
            clock.now += 2
            assert times.seconds()["write"] == 2
        clock.now += 4
    clock.now += 8
    found = {"compile": 0, "imports": 0, "train": 5, "evaluate": 0, "write": 2}
    assert times.seconds() == found
    assert list(found) == list(times.seconds())
    assert times.total() == 15
    times.include({"train": 3.0}, 20.0)  # of an earlier process
    assert times.seconds() == found | {"train": 8}
    assert times.total() == 35


def test_a_context_is_recorded_even_if_it_fails():
    times = TimeSpans()
    with contextlib.suppress(KeyError), times.recording("write"):
        time.sleep(0.02)
        raise KeyError
    seconds = times.seconds()
    assert 0.02 <= seconds["write"] < times.total()
