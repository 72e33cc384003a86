"""The words that a person types: a move, or a command. No JAX."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

Name = Literal["undo", "hint", "values", "review", "new", "quit", "help"]
SideName = Literal["x", "o", "random"]
SIDE_NAMES: tuple[SideName, ...] = get_args(SideName)
"""A person's side: the first player's, the second's, or drawn for each game."""

PROMPT = "(? for help): "
"""The end of each prompt."""

COMMAND_TEXTS: dict[Name, str] = {
    "undo": "take back your last move",
    "hint": "a best move for you",
    "values": "what each move is worth: under best play, and to the agent",
    "review": "your moves and its moves beside best play",
    "new": "another game; new x, new o or new random: with that side",
    "quit": "leave",
    "help": "this list, or ?",
}
"""The commands in the order in which first letters choose one: h is hint."""


class TypedCommand(NamedTuple):
    """A command, with the side of a new game if it is named."""

    name: Name
    side: SideName | None = None


def read_command(text: str, legal: Sequence[int]) -> int | TypedCommand | None:
    """Return the legal move or the command that a line means; None if it means neither.

    The first letters of a word suffice.
    """
    word, *rest = text.lower().split() or [""]
    if not rest and word in map(str, legal):
        return int(word)
    if word == "?" and not rest:
        return TypedCommand("help")
    names: list[Name] = [
        name for name in COMMAND_TEXTS if word and name.startswith(word)
    ]
    if not names or not rest:
        return TypedCommand(names[0]) if names else None
    asked = " ".join(rest)
    sides: list[SideName] = [side for side in SIDE_NAMES if side.startswith(asked)]
    return TypedCommand("new", sides[0]) if sides and names[0] == "new" else None


def help_text(place: str) -> str:
    """Return the list of the commands; `place` is what a number names: a square."""
    rows = {"a number": f"that {place}", **COMMAND_TEXTS}
    lines = [f"  {name:<10}{text}" for name, text in rows.items()]
    return "\n".join(["", *lines, "", "First letters suffice; h is hint.", ""])
