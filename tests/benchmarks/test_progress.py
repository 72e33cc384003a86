"""Bars are drawn only on a terminal and don't break lines of output."""

import io
import sys

import pytest

from jax_ttt.benchmarks.progress import Steps, say


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self):
        return True


def as_terminal(monkeypatch):
    """Make stderr a terminal and return it.

    It is no fixture, since pytest replaces stderr after fixtures.
    """
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def test_a_bar_names_the_step_that_runs_and_counts_it_when_it_is_done(monkeypatch):
    terminal = as_terminal(monkeypatch)
    with Steps(2, "part") as bar:
        seen = bar.step("growth", lambda size, unit: (size, unit, bar.n), 3, unit="ms")
        assert seen == (3, "ms", 0)
        assert bar.n == 1
    assert "growth" in terminal.getvalue()
    assert "0/2" in terminal.getvalue()
    *_, end = terminal.getvalue().split("\r")
    assert end == "", "the bar is removed at its end"


def test_a_step_that_fails_is_not_counted():
    def fail():
        raise ValueError("no")

    with Steps(2, "part") as bar, pytest.raises(ValueError, match="no"):
        bar.step("growth", fail)
    assert bar.n == 0


def test_lines_stay_whole_above_a_bar(monkeypatch, capsys):
    terminal = as_terminal(monkeypatch)
    with Steps(2, "part", "growth"):
        drawn = len(terminal.getvalue())
        say("a line")
        after = terminal.getvalue()[drawn:]
    assert capsys.readouterr().out == "a line\n"
    assert after.startswith("\r"), "cleared before the line"
    assert "growth" in after, "and drawn again"


def test_nothing_is_drawn_where_stderr_is_no_terminal(capsys):
    with Steps(2, "part", "growth") as bar:
        assert bar.step("growth", lambda: 5) == 5
        say("a line")
    assert capsys.readouterr() == ("a line\n", "")
