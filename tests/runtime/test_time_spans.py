"""Time spent in each part of a run: no moment counts twice."""

import contextlib
import time

import jax
import jax.numpy as jnp

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


def test_compiling_is_recorded_only_within_the_context():
    times, later = TimeSpans(), jnp.ones(3)
    with times.recording_compilation(), times.recording("train"):
        jax.block_until_ready(jax.jit(lambda x: x * 17 - 4)(later))
    seconds = times.seconds()
    assert seconds["compile"] > 0
    jax.block_until_ready(jax.jit(lambda x: x * 18 - 4)(later))
    assert times.seconds() == seconds
