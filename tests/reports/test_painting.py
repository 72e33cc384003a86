"""Colours of a terminal's text."""

import io

from jax_ttt.reports import painting


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_colours_are_for_terminals_without_no_color(monkeypatch):
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    assert not painting.is_coloured(io.StringIO())
    assert painting.is_coloured(Terminal())
    monkeypatch.setenv("NO_COLOR", "")  # as good as unset
    assert painting.is_coloured(Terminal())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not painting.is_coloured(Terminal())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not painting.is_coloured(Terminal())


def test_painted_text_is_the_text_between_two_codes():
    assert painting.painted("proven", "bold green") == "\x1b[1;32mproven\x1b[0m"
