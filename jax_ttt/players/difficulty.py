"""The levels of an opponent, from random moves to best play.

This module imports no JAX, so that commands can refuse a level immediately.
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
    """Return the name of the player of a level, for `player_names.read_name`.

    `agent` is the name of the player behind the level, for instance a run's folder. An
    expert does not need it.
    """
    names = {
        "beginner": f"blend:{BEGINNER_CHANCE}:{agent}",
        "medium": agent,
        "expert": "minimax",
    }
    return names[level]
