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
from jax_ttt.config.grade import Evidence
from jax_ttt.games import tree as trees
from jax_ttt.games.played_game import Game, choose_moves
from jax_ttt.players import random_players
from jax_ttt.players.corrections import Corrections
from jax_ttt.solver.asked_moves import AskedMoves
from jax_ttt.solver.proof import Line


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Player:
    """A player of a game: it chooses moves.

    `choose` is for compiled programs, and `moves` for the host, where every player can
    play, a program too.

    Attributes:
        env_id: The game.
        name: Its name in matches and tables.
        choose: The function `(key, env_state of B games) -> actions`; see
            `random_players`. With a policy it draws from it, so what plays is what is
            proven; else random moves by default.
        policy: The probability of each move in each position, `(P, A)` float64, in the
            order of the tree's positions; None if it is not known. It is a copy that
            can't be written.
        seats: The seats that it learned.
        evidence: How sure it is which moves it plays, which decides what a verdict may
            say; see `config.grade.Evidence`. It plays one move in each position, or by
            its `policy`, unless the evidence is `none`.
        corrections: Moves in place of its own; None without any.
        near_best: The function `env_state -> moves (B, A)` that marks all moves that it
            may play if its values are rounded in another way, see
            `network_player.near_best_moves`; None if it plays one move everywhere.
        note: Why its moves are not known, for reports; empty if they are, or by chance.

    Examples:
        >>> minimax = jax_ttt.player("minimax")
        >>> minimax.name, minimax.is_exact
        ('minimax', True)
    """

    env_id: EnvId
    name: str
    choose: Partial = dataclasses.field(
        default_factory=lambda: random_players.random_player
    )
    policy: np.ndarray | None = None
    seats: tuple[Seat, ...] = SEATS
    evidence: Evidence = "none"
    corrections: Corrections | None = None
    near_best: Partial | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if self.policy is not None:
            if self.evidence == "none":
                raise ValueError("a player with a policy needs evidence for it")
            policy = np.asarray(self.policy, np.float64)
            # NumPy can't make an array of bytes writable again.
            copy = np.frombuffer(policy.tobytes()).reshape(policy.shape)
            object.__setattr__(self, "policy", copy)
            index = trees.position_index(self.env_id)
            choose = random_players.policy_player(index, copy)
            object.__setattr__(self, "choose", choose)

    @property
    def is_exact(self) -> bool:
        """Whether the policy is known, so results can be exact."""
        return self.policy is not None

    @property
    def is_symmetric(self) -> bool:
        """Whether it plays mirrored moves on mirrored boards, by construction."""
        return False

    @property
    def sees_state(self) -> bool:
        """Whether its moves may follow from more than the observation and legal moves.

        Then they may depend on which player PGX calls 0.
        """
        return True

    def asked_moves(self, seat: Seat) -> AskedMoves | None:
        """Return the answers of a player who is asked in a search; None of others."""
        del seat
        return None

    def moves(
        self,
        lines: Sequence[Line],
        states: pgx.State,
        key: Key[Array, ""],
        seat: Seat | None = None,
    ) -> Int[np.ndarray, " B"]:
        """Return the moves in many games on the host, any number where a game is over.

        `lines` are the moves so far of each game, and `states` the states after them,
        `(B, ...)`. `key` is consumed. The player has this `seat` in all games; None
        means that of who is to move if the players alternate.

        Raises:
            Refused: a program gives no answer, or an illegal one.
        """
        del lines, seat  # which only a program reads
        return np.asarray(choose_moves(self.choose, key, states), np.int32)

    def move_in(self, game: Game, key: Key[Array, ""]) -> int:
        """Return the move in an unfinished game; as `moves`."""
        return int(self.moves([game.moves], game.state, key, game.to_move)[0])

    def close(self) -> None:
        """End a program's processes; it starts again if it is asked.

        They end with this process too. Other players have nothing to end.
        """

    def __repr__(self) -> str:
        how = "exact" if self.is_exact else "sampled"
        if self.is_exact and self.evidence == "asked":
            how += " by the moves that it gave"
        return f"<player of {self.env_id}: {self.name}, results are {how}>"
