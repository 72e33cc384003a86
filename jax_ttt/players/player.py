"""The record of a player: the function that chooses its moves, and its policy.

Axes: `B` games, `P` positions, `A` actions.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pgx
from jax.tree_util import Partial
from jaxtyping import Array, Int, Key

from jax_ttt.config.game_facts import SEATS, EnvId, Seat
from jax_ttt.games.played_game import Game, choose_moves
from jax_ttt.players.corrections import Corrections
from jax_ttt.players.program import Line


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Player:
    """A player of a game: it chooses moves.

    `choose` is for compiled programs, and `moves` for the host, where every player can
    play, a program too.

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
        corrections: The moves that it is told; None without any.

    Examples:
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
    corrections: Corrections | None = None

    @property
    def is_exact(self) -> bool:
        """Whether the policy is known, so results can be exact."""
        return self.policy is not None

    @property
    def is_compiled(self) -> bool:
        """Whether compiled programs can call `choose`; a program's raises."""
        return True

    def moves(
        self, lines: Sequence[Line], states: pgx.State, key: Key[Array, ""]
    ) -> Int[np.ndarray, " B"]:
        """Return the moves in many games on the host, any number where a game is over.

        `lines` are the moves so far of each game, and `states` the states after them,
        `(B, ...)`. `key` is consumed.

        Raises:
            PlayerError: a program gives no answer, or an illegal one.
        """
        del lines  # which only a program reads
        return np.asarray(choose_moves(self.choose, key, states), np.int32)

    def move_in(self, game: Game, key: Key[Array, ""]) -> int:
        """Return the move in an unfinished game; as `moves`."""
        return int(self.moves([game.moves], game.state, key)[0])

    def close(self) -> None:
        """End a program's processes; it starts again if it is asked.

        They end with the player too, but Python may keep a player for some time. Other
        players have nothing to end.
        """

    def __repr__(self) -> str:
        how = "exact" if self.is_exact else "sampled"
        return f"<player of {self.env_id}: {self.name}, results are {how}>"
