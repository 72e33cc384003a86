"""What a terminal shows while programs compile."""

import io
import sys
import time

import jax.monitoring
import pytest

from jax_ttt.runtime import compile_events
from jax_ttt.runtime.compile_events import Bar, Notice, Status

BEGIN = "/jax/compilation_cache/compile_requests_use_cache"
END = "/jax/core/compile/backend_compile_duration"


@pytest.fixture(autouse=True)
def no_listener_stays():
    """Remove the listeners of a test after it."""
    yield
    jax.monitoring.clear_event_listeners()


@pytest.fixture
def said(monkeypatch):
    """Return the list of notices."""
    monkeypatch.setattr(compile_events, "_LONG", 0.02)
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
        work(0.08)
        assert said == ["compiling"]
        jax.monitoring.record_event_duration_secs(END, 0.2)


def wait_for(happened):
    for _ in range(200):
        if happened():
            return
        time.sleep(0.02)
    raise TimeoutError


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.slow
def test_a_status_shows_its_texts_and_seconds_and_leaves_nothing(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with Status("loading JAX") as status:
        assert "loading JAX 00:00" in terminal.getvalue()
        status.say("grading minimax")
        wait_for(lambda: "grading minimax 00:01" in terminal.getvalue())
    *_, end = terminal.getvalue().split("\r")
    assert end == "", "the line is removed"


def test_a_status_is_not_shown_where_stderr_is_no_terminal(capsys):
    with Status("loading JAX") as status:
        status.say("grading")
    assert capsys.readouterr() == ("", "")


def test_programs_read_from_the_cache_are_not_reported(said):
    for _ in range(8):
        jax.monitoring.record_event(BEGIN)
        work(0.004)
        jax.monitoring.record_event_duration_secs(END, 0.004)
    work(0.08)
    assert not said


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
