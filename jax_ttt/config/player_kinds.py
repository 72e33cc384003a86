"""The kinds of players that a name can stand for, and the flags of programs."""

import dataclasses
import typing
from collections.abc import Callable
from typing import Annotated

import tyro
from msgspec import Meta

from jax_ttt.config.ranges import check_value

PLAYER_KINDS = {
    "random": "any legal move",
    "minimax": "a best move, a random one if several are equal",
    "minimax-first": "the first best move, row by row",
    "minimax-quick": "the first best move that wins soonest or loses latest",
    "mcts[:N]": "UCT, N playouts in advance (default 2,000)",
    "mcts-online[:N]": "UCT, N playouts at each move (default 200)",
    "blend:P:PLAYER": "a random move with probability P, else PLAYER's",
    "lookahead:D:AGENT": "best play D moves deep, then the network's values",
    "shipped:network": "the shipped network for tic_tac_toe, proven unbeatable",
    "shipped:table": "the shipped table for tic_tac_toe, proven unbeatable",
    "shipped:connect-5x4": "the shipped network for connect_5x4, proven unbeatable",
    "shipped:connect-7x6": "the corrected network of connect_7x6, proven to win as X",
    "program:COMMAND": "any program: it reads positions, and answers moves",
    "AGENT": "a saved agent's greedy play: a run's folder or a file",
}
"""The kinds of players, and how each plays."""
PLAYERS_HELP = "\n".join(
    ["Players:", *(f"  {name}: {text}" for name, text in PLAYER_KINDS.items())]
)
"""The kinds of players, a line each, for the help of a command."""

BUILT_IN = (
    "random",
    "blend:0.7:minimax",
    "minimax",
    "minimax-first",
    "minimax-quick",
    "mcts",
    "mcts-online",
)
"""Players that need no file."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProgramOptions:
    """How the players program:COMMAND are asked.

    Raises:
        SettingError: a number is outside its range.
    """

    copies: Annotated[int, Meta(ge=1, le=1000)] = 1
    """Processes of a program in each seat; they answer at the same time."""
    answer_seconds: Annotated[float, Meta(gt=0, le=1e6)] = 10.0
    """Time limit for an answer of a program. It includes the program's start."""
    say: tyro.conf.Suppress[Callable[[str], None]] = lambda text: None
    """Shows the progress."""

    def __post_init__(self) -> None:
        kinds = typing.get_type_hints(type(self), include_extras=True)
        for name in ("copies", "answer_seconds"):
            check_value(name, kinds[name], getattr(self, name))
