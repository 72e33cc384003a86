"""The words that a person types in a game: a move or a command."""

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

CommandName = Literal["undo", "hint", "values", "review", "new", "quit", "help"]
SideName = Literal["x", "o", "random"]
SIDE_NAMES: tuple[SideName, ...] = get_args(SideName)
"""The side of a person: first, second, or drawn for each game."""

PROMPT = "(? for help): "
"""The end of each prompt."""

COMMAND_TEXTS: dict[CommandName, str] = {
    "undo": "take back your last move",
    "hint": "a best move for you",
    "values": "what each move is worth: under best play, and to the agent",
    "review": "your moves and its moves beside best play",
    "new": "another game; new x, new o or new random: with that side",
    "quit": "leave",
    "help": "this list, or ?",
}
"""What each command does; of two that begin with the typed letters, the first."""


class TypedCommand(NamedTuple):
    """A command, and the side of a new game if the person named one."""

    name: CommandName
    side: SideName | None = None


def read_command(text: str, legal: Mapping[str, int]) -> int | TypedCommand | None:
    """Return the legal move or the command that a person typed; None if it is neither.

    `legal` has the legal moves by their names. The first letters of a word suffice.
    """
    word, *other_words = text.lower().split() or [""]
    if not other_words and word in legal:
        return legal[word]
    if word == "?" and not other_words:
        return TypedCommand("help")
    names: list[CommandName] = [
        name for name in COMMAND_TEXTS if word and name.startswith(word)
    ]
    if not names or not other_words:
        return TypedCommand(names[0]) if names else None
    side_word = " ".join(other_words)
    sides: list[SideName] = [side for side in SIDE_NAMES if side.startswith(side_word)]
    return TypedCommand("new", sides[0]) if sides and names[0] == "new" else None


def help_text(noun: str) -> str:
    """Return the list of the commands; `noun` is from `game_facts.move_noun`."""
    # A move is a number too, where moves have no names.
    rows = {"a move": "play it"} if noun == "move" else {"a number": f"that {noun}"}
    rows |= COMMAND_TEXTS
    lines = [f"  {name:<10}{text}" for name, text in rows.items()]
    return "\n".join(["", *lines, "", "First letters suffice; h is hint.", ""])
