"""The levels of an opponent: how strongly a learned agent, or best play, answers.

Imports no JAX, as the names of players do not.
"""

from typing import Literal, get_args

PlayLevel = Literal["beginner", "medium", "expert"]
LEVELS: tuple[PlayLevel, ...] = get_args(PlayLevel)
"""The levels, from weak to strong."""

BEGINNER_CHANCE = 0.7
"""The probability of a beginner's random move."""

LEVEL_TEXTS: dict[PlayLevel, str] = {
    "beginner": "70 % random moves, else the learned agent's",
    "medium": "the learned agent",
    "expert": "best play, in enumerable games",
}
"""What each level plays, in words."""


def level_player_name(level: PlayLevel, agent: str) -> str:
    """Return the name of a level's player, which `names.read_name` reads.

    `agent` is the name of a player, usually the path of a learned agent's file or of a
    run's folder. An expert plays without it.
    """
    names = {
        "beginner": f"blend:{BEGINNER_CHANCE}:{agent}",
        "medium": agent,
        "expert": "minimax",
    }
    return names[level]
