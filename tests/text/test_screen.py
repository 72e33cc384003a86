"""The screen of the standard streams."""

import io

import pytest

from jax_ttt.text import screen


class Terminal(io.TextIOWrapper):
    """A stream that is a terminal."""

    def isatty(self):
        return True


def set_stdout(encoding, monkeypatch):
    monkeypatch.setattr("sys.stdout", Terminal(io.BytesIO(), encoding=encoding))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def test_colours_are_for_terminals_without_no_color(monkeypatch):
    set_stdout("utf-8", monkeypatch)
    assert screen.standard_screen().paint("X", "bold") == "\x1b[1mX\x1b[0m"
    assert screen.standard_screen().paint("X", "") == "X"
    for name, value, coloured in (
        ("NO_COLOR", "1", False),
        ("NO_COLOR", "", True),  # as good as unset
        ("TERM", "dumb", False),
        ("TERM", "xterm", True),
    ):
        monkeypatch.setenv(name, value)
        assert screen.standard_screen().coloured == coloured
    monkeypatch.setattr("sys.stdout", io.StringIO())
    assert not screen.standard_screen().coloured


@pytest.mark.parametrize(
    ("encoding", "lines"), [("utf-8", "│─┼"), ("cp437", "│─┼"), ("latin-1", "|-+")]
)
def test_lines_are_those_that_the_encoding_has(encoding, lines, monkeypatch):
    set_stdout(encoding, monkeypatch)
    assert screen.standard_screen().lines == lines


def test_bytes_that_are_not_text_are_wrong_input(monkeypatch, capsys):
    stdin = io.TextIOWrapper(io.BytesIO(b"\xff\xfe\n"), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", stdin)
    assert screen.standard_screen().ask("move: ") == "\N{REPLACEMENT CHARACTER}"
    assert capsys.readouterr().out == "move: "
