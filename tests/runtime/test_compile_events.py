"""The notice of compiling, and a progress bar that excludes compiling."""

import io
import time

import jax.monitoring
import pytest

from jax_ttt.runtime import compile_events
from jax_ttt.runtime.compile_events import Bar, Notice, durations

BEGIN = "/jax/compilation_cache/compile_requests_use_cache"
END = "/jax/core/compile/backend_compile_duration"


@pytest.fixture
def said(monkeypatch):
    """Return the list of notices."""
    monkeypatch.setattr(compile_events, "_LONG", 0.05)
    found = []
    Notice(lambda: found.append("compiling"))
    return found


def work(seconds):
    """Keep the processor busy."""
    begin = time.process_time()
    while time.process_time() - begin < seconds:
        pass


def test_a_slow_compilation_is_reported_once_while_it_runs(said):
    for _ in range(2):
        jax.monitoring.record_event(BEGIN)
        work(0.2)
        assert said == ["compiling"]
        jax.monitoring.record_event_duration_secs(END, 0.2)


def test_programs_read_from_the_cache_are_not_reported(said):
    for _ in range(20):
        jax.monitoring.record_event(BEGIN)
        work(0.01)
        jax.monitoring.record_event_duration_secs(END, 0.01)
    work(0.2)
    assert not said


def test_durations_are_reported_only_within_the_context():
    heard = []
    with durations(lambda *event: heard.append(event)):
        jax.monitoring.record_event_duration_secs(END, 2.0)
        jax.monitoring.record_event_duration_secs("/jax/other", 1.0)
    jax.monitoring.record_event_duration_secs(END, 3.0)
    assert heard == [(END, 2.0)]


@pytest.mark.parametrize("compiles", [True, False])
def test_a_bar_excludes_the_seconds_of_compiling(compiles):
    with Bar(total=10, file=io.StringIO(), mininterval=0) as bar:
        begun = bar.start_t
        time.sleep(0.1)
        if compiles:
            jax.monitoring.record_event_duration_secs(END, 0.6)
        bar.update(5)
        assert (bar.start_t - begun >= 0.1) == compiles
    bar.close()
    jax.monitoring.record_event_duration_secs(END, 0.6)  # the bar ignores it
