"""A player: a function that chooses moves, and the record of it.

A player's function is `(key, env_state of B games) -> actions`. It consumes its key.
Its action in a finished game is ignored. It is a `jax.tree_util.Partial`, whose arrays
are data and not part of the program: players of one kind share a compiled match.

Axes: `B` games, `A` actions, `P` positions.
"""

import dataclasses
import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jax.tree_util import Partial
from jaxtyping import Array, Bool, Float, Int, Key

from jax_ttt.config.game_facts import SEATS, EnvId, Seat
from jax_ttt.config.grade import Evidence
from jax_ttt.dqn import equations
from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.games.board_index import PositionIndex
from jax_ttt.games.played_game import Game, choose_moves
from jax_ttt.solver.asked_moves import AskedMoves
from jax_ttt.solver.corrections import Corrections
from jax_ttt.solver.proof import Line


def _random_actions(key: Key[Array, ""], env_state: pgx.State) -> Int[Array, " B"]:
    mask = env_state.legal_action_mask
    return equations.random_legal(jax.random.uniform(key, mask.shape[:1]), mask)


random_player = Partial(_random_actions)
"""Plays each legal move with equal probability."""


def blended_player(chance: float, player: Partial) -> Partial:
    """Return the player of a random move with probability `chance`, else `player`'s.

    `chance` is from 0 to 1. With a greedy `player`, the result is epsilon-greedy.
    """
    return Partial(_blended_actions, jax.device_put(np.float32(chance)), player)


def _blended_actions(
    chance: Float[Array, ""], player: Partial, key: Key[Array, ""], env_state: pgx.State
) -> Int[Array, " B"]:
    chance_key, random_key, player_key = jax.random.split(key, 3)
    num_games = env_state.legal_action_mask.shape[:1]
    is_random = jax.random.bernoulli(chance_key, chance, num_games)
    return jnp.where(
        is_random, random_player(random_key, env_state), player(player_key, env_state)
    )


def policy_player(
    index: PositionIndex[np.ndarray], probs: Float[np.ndarray, "P A"]
) -> Partial:
    """Return the player that draws its moves from a policy.

    `index` is the result of `tree.position_index`.
    """
    arrays = jax.device_put((index, probs.astype(np.float32)))
    return Partial(_policy_actions, *arrays)


def _policy_actions(
    index: PositionIndex[jax.Array],
    probs: Float[Array, "P A"],
    key: Key[Array, ""],
    env_state: pgx.State,
) -> Int[Array, " B"]:
    logits = jnp.log(probs[index.of_states(env_state)])
    return jax.random.categorical(key, logits, axis=-1).astype(jnp.int32)


def moves_of_policy(
    index: PositionIndex[np.ndarray], probs: Float[np.ndarray, "P A"]
) -> Partial:
    """Return the function that marks the moves that a policy may play in states.

    They are those whose probability is not 0. `index` is as for `policy_player`.
    """
    return Partial(_policy_moves, *jax.device_put((index, probs != 0)))


def _policy_moves(
    index: PositionIndex[jax.Array], is_played: Bool[Array, "P A"], env_state: pgx.State
) -> Bool[Array, "B A"]:
    return is_played[index.of_states(env_state)]


@functools.partial(jax.jit, static_argnames=("env", "num_games", "num_moves"))
def boards_of_random_games(
    env: pgx.Env, key: Key[Array, ""], num_games: int, num_moves: int
) -> pgx.State:
    """Return the boards before each of the first `num_moves` moves of random games.

    The batch has `num_games * num_moves` boards. After the end of a game, its last
    board is repeated. `key` is consumed.
    """

    def ply(state: pgx.State, key: jax.Array) -> tuple[pgx.State, pgx.State]:
        after, _ = pgx_games.step(env, state, random_player(key, state), 1.0)
        return after, state

    init_key, play_key = jax.random.split(key)
    start = pgx_games.init(env, init_key, num_games)
    _, states = jax.lax.scan(ply, start, jax.random.split(play_key, num_moves))
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), states)


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Player:
    """A player of a game: it chooses moves.

    `choose` is for compiled programs, and `moves` for the host, where every player can
    play, a program too.

    Attributes:
        env_id: The game.
        name: Its name in matches and tables.
        choose: The function `(key, env_state of B games) -> actions`. With a policy it
            draws from it, so what plays is what is proven; else random moves by
            default.
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
            `saved_agents.near_best_moves`; None if it plays one move everywhere.
        note: Why its moves are not known, for reports; empty if they are, or by chance.

    Examples:
        >>> minimax = jax_ttt.player("minimax")
        >>> minimax.name, minimax.is_exact
        ('minimax', True)
    """

    env_id: EnvId
    name: str
    choose: Partial = dataclasses.field(default_factory=lambda: random_player)
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
            choose = policy_player(index, copy)
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
