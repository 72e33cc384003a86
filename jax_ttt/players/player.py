"""The record of a player: the function that chooses its moves, and its policy.

Axes: `B` games, `P` positions, `A` actions.
"""

import dataclasses

import numpy as np
from jax.tree_util import Partial

from jax_ttt.config.game_facts import SEATS, EnvId, Seat


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Player:
    """A player of a game: it chooses moves.

    Attributes:
        env_id: The game.
        name: Its name in matches and tables.
        choose: The function `(key, env_state of B games) -> actions`; see
            `random_players`.
        policy: The probability of each move in each position, `(P, A)` float64, in the
            order of the tree's positions; None if it is not known.
        seats: The seats that it learned.
        is_deterministic: Whether it plays one move in each position, whatever the key.
        is_symmetric: Whether it plays mirrored moves on mirrored boards, by
            construction.
        note: Why its results are not exact, for reports; may be empty.
        asked_twice: The share of a program's positions that it was asked for twice, 0
            to 1; None for a player that is not a program with known moves.

    Example:
        >>> minimax = jax_ttt.player("minimax")
        >>> minimax.name, minimax.is_exact
        ('minimax', True)
    """

    env_id: EnvId
    name: str
    choose: Partial
    policy: np.ndarray | None = None
    seats: tuple[Seat, ...] = SEATS
    is_deterministic: bool = False
    is_symmetric: bool = False
    note: str = ""
    asked_twice: float | None = None

    @property
    def is_exact(self) -> bool:
        """Whether the policy is known, so results can be exact."""
        return self.policy is not None

    def close(self) -> None:
        """End a program's processes; it starts again if it is asked.

        They end with the player too, but Python may keep a player for some time. Other
        players have nothing to end.
        """

    def __repr__(self) -> str:
        how = "exact" if self.is_exact else "sampled"
        return f"<player of {self.env_id}: {self.name}, results are {how}>"
