"""The screen of the standard streams."""

import io

import pytest

from jax_ttt.text import screen


class Terminal(io.TextIOWrapper):
    """A stream that is a terminal."""

    def isatty(self):
        return True


def stdout_of(encoding, monkeypatch):
    stream = Terminal(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr("sys.stdout", stream)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def test_colours_are_for_terminals_without_no_color(monkeypatch):
    stdout_of("utf-8", monkeypatch)
    assert screen.standard_screen().paint("X", "bold") == "\x1b[1mX\x1b[0m"
    assert screen.standard_screen().paint("X", "") == "X"
    monkeypatch.setenv("NO_COLOR", "1")
    assert screen.standard_screen().paint("X", "bold") == "X"
    monkeypatch.setenv("NO_COLOR", "")  # as good as unset
    assert screen.standard_screen().coloured
    monkeypatch.setenv("TERM", "dumb")
    assert not screen.standard_screen().coloured
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stdout", io.StringIO())
    assert not screen.standard_screen().coloured


@pytest.mark.parametrize(
    ("encoding", "lines"),
    [("utf-8", "│─┼"), ("cp437", "│─┼"), ("ascii", "|-+"), ("latin-1", "|-+")],
)
def test_lines_are_those_that_the_encoding_has(encoding, lines, monkeypatch):
    stdout_of(encoding, monkeypatch)
    assert screen.standard_screen().lines == lines


def test_a_line_that_is_no_text_is_wrong_input(monkeypatch, capsys):
    stdin = io.TextIOWrapper(io.BytesIO(b"\xff\xfe\n"), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", stdin)
    assert screen.standard_screen().ask("move: ") == "\N{REPLACEMENT CHARACTER}"
    assert capsys.readouterr().out == "move: "
