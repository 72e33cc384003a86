"""What a typed line means."""

import pytest

from jax_ttt.text import commands as words
from jax_ttt.text.commands import TypedCommand

LEGAL = (0, 4, 12)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("4", 4),
        ("  12 ", 12),
        ("u", TypedCommand("undo")),
        ("UNDO", TypedCommand("undo")),
        ("h", TypedCommand("hint")),
        ("hi", TypedCommand("hint")),
        ("he", TypedCommand("help")),
        ("?", TypedCommand("help")),
        (" va ", TypedCommand("values")),
        ("r", TypedCommand("review")),
        ("q", TypedCommand("quit")),
        ("n", TypedCommand("new")),
        ("new o", TypedCommand("new", "o")),
        ("n X", TypedCommand("new", "x")),
        ("new r", TypedCommand("new", "random")),
    ],
)
def test_a_line_is_a_move_or_a_command(text, meant):
    assert words.read_command(text, LEGAL) == meant


@pytest.mark.parametrize(
    "text",
    [
        *("", "  ", "1", "-4", "04", "4.0", "٤", "4 4", "undone", "x", "new p"),
        *("new x o", "quit x", "? ?", "\x1b[A", "\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_other_lines_mean_nothing(text):
    assert words.read_command(text, LEGAL) is None


def test_the_help_names_every_command():
    shown = words.help_text("column")
    assert all(f"  {name} " in shown for name in words.COMMAND_TEXTS)
    assert max(map(len, shown.splitlines())) < 80
