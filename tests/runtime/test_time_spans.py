"""Time spent in each part of a run: no moment counts twice."""

import contextlib
import subprocess
import sys
import threading
import time

import jax
import jax.numpy as jnp
import pytest

from jax_ttt.runtime import process, time_spans
from jax_ttt.runtime.time_spans import Part, Span, TimeSpans, attributed, covered

ORDER: tuple[Part, ...] = ("compile", "imports", "train", "evaluate", "write")


def test_parts_of_a_run_count_no_moment_twice():
    spans: dict[Part, list[Span]] = {
        "imports": [(0.0, 4.0), (1.0, 2.0), (3.0, 6.0)],  # nested, and overlapping
        "compile": [(5.0, 8.0), (6.0, 7.0)],
        "train": [(7.0, 10.0), (20.0, 21.0)],
    }
    found = {"compile": 3, "imports": 5, "train": 3, "evaluate": 0, "write": 0}
    assert attributed(spans, ORDER) == found
    assert list(found) == list(ORDER)
    assert covered([]) == 0


def test_a_context_is_recorded_even_if_it_fails():
    times = TimeSpans()
    with contextlib.suppress(KeyError), times.recording("write"):
        time.sleep(0.02)
        raise KeyError
    with times.recording("train"), times.recording("evaluate"):
        time.sleep(0.02)
    seconds = times.seconds()
    assert 0.02 <= seconds["write"] < times.total()
    assert seconds["train"] >= 0.02
    assert seconds["evaluate"] == 0  # the overlap counts as training
    assert sum(seconds.values()) <= times.total()


def test_only_the_sums_of_many_spans_are_kept(monkeypatch):
    monkeypatch.setattr(time_spans, "_MOST_PENDING", 10)
    times = TimeSpans()
    begin = times._start
    for moment in range(1000):
        times.add("compile", begin + moment, begin + moment + 0.25)
        times.add("train", begin + moment, begin + moment + 0.75)
        assert sum(map(len, times._pending.values())) < 10
    assert times.seconds()["train"] == pytest.approx(500)
    assert times.seconds()["compile"] == pytest.approx(250)
    times.add("write", begin, begin + 1000.5)  # settled sums don't change
    assert sum(times.seconds().values()) == pytest.approx(750.75, abs=0.5)


def test_threads_can_share_the_record(monkeypatch):
    monkeypatch.setattr(time_spans, "_MOST_PENDING", 7)
    times = TimeSpans()
    begin = times._start

    def add():
        for moment in range(200):
            times.add("write", begin + moment, begin + moment + 1)

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert times.seconds()["write"] <= 200 + 1e-6  # sums are rounded


def test_compiling_is_recorded_only_within_the_context():
    times, later = TimeSpans(), jnp.ones(3)
    with times.recording_compilation(), times.recording("train"):
        jax.block_until_ready(jax.jit(lambda x: x * 17 - 4)(later))
    seconds = times.seconds()
    assert seconds["compile"] > 0
    jax.block_until_ready(jax.jit(lambda x: x * 18 - 4)(later))
    assert times.seconds() == seconds


def test_a_process_counts_its_start_as_imports(monkeypatch):
    monkeypatch.setattr(process, "age", lambda: 5.0)
    times = TimeSpans(own_process=True)
    assert times.seconds()["imports"] == pytest.approx(5)
    assert times.total() >= 5
    assert TimeSpans().seconds()["imports"] == 0
    monkeypatch.setattr(process, "age", lambda: None)
    assert TimeSpans(own_process=True).seconds()["imports"] == 0


def test_spans_are_recorded_without_jax():
    code = "import sys, jax_ttt.runtime.time_spans; sys.exit('jax' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
