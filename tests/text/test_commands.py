"""What a typed line means."""

from jax_ttt.text import commands
from jax_ttt.text.commands import TypedCommand

LEGAL = {"1": 0, "4": 3, "12": 11}  # as columns count, from 1
COMMANDS = {
    "u": ("undo",),
    "UNDO": ("undo",),
    " va ": ("values",),
    "r": ("review",),
    "h": ("hint",),
    "hi": ("hint",),
    "he": ("help",),
    "?": ("help",),
    "q": ("quit",),
    "n": ("new",),
    "new o": ("new", "o"),
    "n X": ("new", "x"),
    "new r": ("new", "random"),
}
OTHERS = (
    "",
    "  ",
    "0",
    "-4",
    "04",
    "4.0",
    "٤",
    "4 4",
    "undone",
    "x",
    "new p",
    "new x o",
    "quit x",
    "? ?",
    "\x1b[A",
    "\N{REPLACEMENT CHARACTER}",
)


def test_a_line_is_a_move_or_a_command():
    assert [commands.read_command(text, LEGAL) for text in ("4", "  12 ")] == [3, 11]
    meanings = {text: commands.read_command(text, LEGAL) for text in COMMANDS}
    assert meanings == {text: TypedCommand(*parts) for text, parts in COMMANDS.items()}
    assert not [text for text in OTHERS if commands.read_command(text, LEGAL)]


def test_the_help_names_every_command():
    text = commands.help_text("column")
    assert all(f"  {name} " in text for name in commands.COMMAND_TEXTS)
    assert max(map(len, text.splitlines())) < 80
