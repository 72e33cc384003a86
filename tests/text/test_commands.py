"""What a typed line means."""

import pytest

from jax_ttt.text import commands as words
from jax_ttt.text.commands import Command

LEGAL = (0, 4, 12)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("4", 4),
        ("  12 ", 12),
        ("u", Command("undo")),
        ("UNDO", Command("undo")),
        ("h", Command("hint")),
        ("hi", Command("hint")),
        ("he", Command("help")),
        ("?", Command("help")),
        (" va ", Command("values")),
        ("r", Command("review")),
        ("q", Command("quit")),
        ("n", Command("new")),
        ("new o", Command("new", "o")),
        ("n X", Command("new", "x")),
        ("new r", Command("new", "random")),
    ],
)
def test_a_line_is_a_move_or_a_command(text, meant):
    assert words.read_words(text, LEGAL) == meant


@pytest.mark.parametrize(
    "text",
    [
        *("", "  ", "1", "-4", "04", "4.0", "٤", "4 4", "undone", "x", "new p"),
        *("new x o", "quit x", "? ?", "\x1b[A", "\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_other_lines_mean_nothing(text):
    assert words.read_words(text, LEGAL) is None


def test_the_help_names_every_command():
    shown = words.help_text("column")
    assert all(f"  {name} " in shown for name in words.ABOUT)
    assert max(map(len, shown.splitlines())) < 80
