"""The notice of compiling, the status line, and a bar that excludes compiling."""

import io
import os
import subprocess
import sys
import time
from pathlib import Path

import jax.monitoring
import pytest

from jax_ttt.runtime import compile_events
from jax_ttt.runtime.compile_events import WILL_COMPILE, Bar, Notice, Status, durations

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


def test_a_program_that_is_not_cached_is_reported_by_our_event(said):
    jax.monitoring.record_event(WILL_COMPILE)
    work(0.2)
    assert said == ["compiling"]
    jax.monitoring.record_event_duration_secs(END, 0.2)


def wait_for(happened):
    for _ in range(200):
        if happened():
            return
        time.sleep(0.02)
    raise TimeoutError


@pytest.mark.slow
def test_the_log_of_xla_is_silent_only_during_a_very_slow_compilation(monkeypatch):
    """XLA logs its alarm "Very slow compile?" as an error, after two minutes."""
    assert compile_events._ALARM < 120
    levels = []
    monkeypatch.setattr(compile_events, "_LONG", 0.05)
    monkeypatch.setattr(compile_events, "_ALARM", 0.3)
    monkeypatch.setattr(compile_events, "set_log_level", levels.append)
    Notice(lambda: None)
    jax.monitoring.record_event(BEGIN)
    time.sleep(0.1)
    jax.monitoring.record_event_duration_secs(END, 0.1)
    time.sleep(0.4)
    assert levels == []
    jax.monitoring.record_event(BEGIN)
    wait_for(lambda: levels)
    assert set(levels) == {3}  # other tests' notices hear the events too
    jax.monitoring.record_event_duration_secs(END, 0.5)
    wait_for(lambda: levels[-1] is None)


FOLD = """
import sys
import jax
import jax.numpy as jnp
from jax import lax
from jax_ttt.runtime import compile_events

for level in sys.argv[1:]:
    compile_events.set_log_level(None if level == "usual" else int(level))

@jax.jit
def fold():  # of constants, which takes XLA some seconds
    ones, window = jnp.ones((1, 100, 100)), (1, 24, 24)
    return lax.reduce_window(ones, 0.0, lax.add, window, (1, 1, 1), "SAME")

fold()
"""


# Seen with jaxlib 0.10.2, and not with 0.12.
HAS_ALARM = tuple(map(int, jax.__version__.split(".")[:2])) < (0, 11)


@pytest.mark.slow
@pytest.mark.parametrize(("levels", "shown"), [(["3"], False), (["3", "usual"], True)])
def test_xlas_alarms_are_errors_in_a_log_that_has_a_level(levels, shown):
    """This alarm comes after one second; the other is of the same file of XLA."""
    done = subprocess.run(
        [sys.executable, "-c", FOLD, *levels],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ
        | {
            "PYTHONPATH": str(Path(compile_events.__file__).parents[2]),
            "JAX_ENABLE_COMPILATION_CACHE": "false",
            "JAX_DISABLE_MOST_OPTIMIZATIONS": "0",
        },
    )
    assert ("slow_operation_alarm" in done.stderr) == (shown and HAS_ALARM)


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
