"""The levels of an opponent, from mostly random moves to best play.

They are the levels of the command `play` and of the web page.
"""

from typing import Literal, NamedTuple

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
"""The levels, from weak to strong; static/levels.js has the same ones."""


def level_text(level: PlayLevel) -> str:
    """Return what a level plays, in words."""
    share = LEVELS[level].random_share
    if level == "expert":
        return "best play, in enumerable games"
    if share:
        return f"{100 * share:.0f} % random moves, else the learned agent's"
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
