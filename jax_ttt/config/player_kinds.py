"""What players a name can stand for, the agents that come along, levels, programs.

`tools/make_agents.py` trains these agents, and `docs/results/shipped_agents.md` has
their grades. The levels of an opponent, from mostly random moves to best play, are
those of the command `play` and of the web page.
"""

import dataclasses
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

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


_FOLDER = Path(__file__).parents[1] / "shipped"

SHIPPED: dict[str, Path] = {
    name: _FOLDER / f"{name}.safetensors" for name in ("network", "table")
}
"""The agents' files by name, all of tic-tac-toe; the first is the default agent."""
SNAPSHOTS: dict[str, Path] = {name: _FOLDER / f"{name}-snapshots" for name in SHIPPED}
"""The folders of the snapshots of their trainings, by the same names."""
CONNECT_FOUR: dict[str, Path] = {
    name: _FOLDER / f"{name}.safetensors" for name in ("connect-5x4", "connect-7x6")
}
"""Agents of Connect Four, by the preset of their training."""
ALL = SHIPPED | CONNECT_FOUR

PlayLevel = Literal["beginner", "casual", "strong", "full", "expert"]


class Level(NamedTuple):
    """What a level is called, and how it plays."""

    name: str
    random_share: float = 0.0
    """The probability of a random move."""


LEVELS: dict[PlayLevel, Level] = {
    "beginner": Level("Beginner", random_share=0.7),
    "casual": Level("Casual", random_share=0.35),
    "strong": Level("Strong", random_share=0.1),
    "full": Level("Full strength"),
    "expert": Level("Expert (perfect play)"),
}
"""The levels, from weak to strong; `make schema` gives them to the page."""


def level_text(level: PlayLevel) -> str:
    """Return what a level plays, in words."""
    share = LEVELS[level].random_share
    if level == "expert":
        return "exact play, where the game is solved"
    if share:
        return f"{100 * share:.0f}% random moves, else the learned agent's"
    return "the learned agent without random moves"


def level_player_name(level: PlayLevel, agent: str) -> str:
    """Return the name of the player of a level, for `registry.read_player_name`.

    `agent` is the name of the player behind the level, for instance a run's folder. An
    expert does not need it.
    """
    if level == "expert":
        return "minimax"
    share = LEVELS[level].random_share
    return f"blend:{share}:{agent}" if share else agent
