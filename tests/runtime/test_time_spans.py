"""The time of each part of a run."""

import contextlib
from types import SimpleNamespace

from jax_ttt.runtime import time_spans
from jax_ttt.runtime.time_spans import TimeSpans


def test_no_moment_counts_twice_and_a_failed_part_counts(monkeypatch):
    clock = SimpleNamespace(now=100.0)
    clock.perf_counter = lambda: clock.now
    monkeypatch.setattr(time_spans, "time", clock)
    times = TimeSpans()
    with times.recording("train"):
        clock.now += 1
        with contextlib.suppress(KeyError), times.recording("write"):
            clock.now += 2
            assert times.seconds()["write"] == 2
            raise KeyError
        clock.now += 4
    clock.now += 8
    seconds = {"compile": 0, "imports": 0, "train": 5, "evaluate": 0, "write": 2}
    assert times.seconds() == seconds
    assert times.total() == 15
    times.include({"train": 3.0}, 20.0)  # of an earlier process
    assert times.seconds() == seconds | {"train": 8}
    assert times.total() == 35
