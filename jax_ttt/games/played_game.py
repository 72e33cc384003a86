"""A game being played: its moves, its states, whose turn it is, and the result.

`Game` is one game, played move by move on the host: about a tenth of a millisecond a
move, after JAX has compiled the step. `replay` plays many games at once.

Axes: `B` games, `T` moves, `A` actions.
"""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jax.tree_util import Partial
from jaxtyping import Array, Bool, Int, Key

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import EnvId, Seat
from jax_ttt.games import pgx_games
from jax_ttt.games.pgx_games import ChooseFn

Result = Literal["won", "drawn", "lost"]


@dataclasses.dataclass(frozen=True)
class Game:
    """A game, unfinished or finished; `play` returns a new one. Make it by `start`.

    Two games with the same moves are equal.

    Attributes:
        env_id: The name of the game.
        moves: The moves of both players, the oldest first.
        states: The PGX states, `(1, ...)` each: before the first and after each move.
    """

    env_id: EnvId
    moves: tuple[int, ...]
    states: tuple[pgx.State, ...] = dataclasses.field(compare=False, repr=False)

    @classmethod
    def start(cls, env_id: EnvId, moves: Sequence[int] = ()) -> "Game":
        """Return the game after these moves.

        Raises:
            Refused: a move is not legal, or the game is already over.
        """
        # PGX draws which player has id 0. With a constant key, equal moves lead to
        # equal states.
        state = pgx_games.init(pgx_games.make_env(env_id), jax.random.key(0), 1)
        game = cls(env_id, moves=(), states=(state,))
        for move in moves:
            game = game.play(move)
        return game

    @property
    def state(self) -> pgx.State:
        """The latest state, `(1, ...)`."""
        return self.states[-1]

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        # Read as NumPy arrays, since JAX compiles a program to read one element.
        terminated = np.asarray(self.state.terminated)[0]
        truncated = np.asarray(self.state.truncated)[0]
        return bool(terminated or truncated)

    @property
    def legal_moves(self) -> tuple[int, ...]:
        """The legal moves in ascending order; none if the game is over."""
        if self.is_over:  # then PGX marks every action as legal
            return ()
        legal = np.asarray(self.state.legal_action_mask)[0]
        return tuple(np.flatnonzero(legal).tolist())

    @property
    def to_move(self) -> Seat:
        """The seat to move; after the last move, the one that would move next.

        The latest observation is from its perspective.
        """
        return "first" if _mover(self.state) == _mover(self.states[0]) else "second"

    def result(self, seat: Seat) -> Result | None:
        """Return the result for a seat; None if the game is not over."""
        if not self.is_over:
            return None
        first = _mover(self.states[0])
        player = first if seat == "first" else 1 - first
        reward = np.asarray(self.state.rewards)[0, player]
        return "won" if reward > 0 else "lost" if reward < 0 else "drawn"

    def play(self, move: int) -> "Game":
        """Return the game after a legal move.

        PGX itself accepts any number: it clips a number that is out of range, and the
        player who makes an illegal move loses.

        Raises:
            Refused: the move is not legal, or the game is over.
        """
        legal = self.legal_moves
        if move not in legal:
            rule = (
                f"legal: {' '.join(map(str, legal))}" if legal else "the game is over"
            )
            raise Refused(f"{move} is not a legal move of {self.env_id}; {rule}")
        action = np.array([move], np.int32)
        env = pgx_games.make_env(self.env_id)
        after = pgx_games.play_moves(env, self.state, action)
        return Game(self.env_id, (*self.moves, move), (*self.states, after))

    def move_of(self, player: Partial, key: Key[Array, ""]) -> int:
        """Return the move that a player `(key, env_state) -> actions` chooses here.

        `key` is consumed.
        """
        return int(np.asarray(choose_moves(player, key, self.state))[0])

    def back_to(self, num_moves: int) -> "Game":
        """Return the game after its first `num_moves` moves."""
        states = self.states[: num_moves + 1]
        return Game(self.env_id, self.moves[:num_moves], states)

    def before_move_of(self, seat: Seat) -> "Game":
        """Return the game before a seat's latest move; this game if there is none."""
        for num_moves in reversed(range(len(self.moves))):
            earlier = self.back_to(num_moves)
            if earlier.to_move == seat:
                return earlier
        return self


def _mover(env_state: pgx.State) -> int:
    """Return the id of the player to move, which PGX drew at the start: 0 or 1."""
    return int(np.asarray(env_state.current_player)[0])


def choose_in_blocks(
    choose: ChooseFn, size: int, key: Key[Array, ""], env_state: pgx.State
) -> Int[Array, " B"]:
    """Return the moves of a player that is given `size` games at a time.

    XLA rounds sums in another way for another number of games, and for a loop of one
    round, which it takes apart. So the last block is filled, and the number of blocks
    is data: a game's move is the same among any others. `key` is given to each block.
    """
    num_games = len(env_state.terminated)
    num_blocks = -(-num_games // size)
    rows = jnp.arange(num_blocks * size).clip(max=num_games - 1)
    filled = jax.tree.map(lambda leaf: leaf[rows], env_state)

    def play(block: Int[Array, ""], actions: Int[Array, " N"]) -> Int[Array, " N"]:
        begin = block * size
        games = jax.tree.map(
            lambda leaf: jax.lax.dynamic_slice_in_dim(leaf, begin, size), filled
        )
        moves = choose(key, games)
        return jax.lax.dynamic_update_slice_in_dim(actions, moves, begin, 0)

    is_block = filled.current_player[::size] >= 0  # all are
    actions = jnp.zeros(num_blocks * size, jnp.int32)
    return jax.lax.fori_loop(0, is_block.sum(), play, actions)[:num_games]


@jax.jit
def choose_moves(
    player: ChooseFn, key: Key[Array, ""], env_state: pgx.State
) -> Int[Array, " B"]:
    """Return a player's moves in many games; `key` is consumed.

    The player's arrays are data here. `jax.jit(player)` would make them constants, so
    each network would be compiled again.
    """
    return player(key, env_state)


def game_against_itself(
    env_id: EnvId, player: Partial, line: Sequence[int] = (), seat: Seat = "first"
) -> Game:
    """Return the game of a deterministic player `(key, env_state) -> actions`.

    It plays both sides. With a `line` of moves, the game begins with that line, as far
    as the player itself would follow it in `seat`.

    Raises:
        Refused: a move of the line, or of the player, is not legal.
    """
    game, follows_line = Game.start(env_id), True
    while not game.is_over:
        move, num_moves = game.move_of(player, jax.random.key(0)), len(game.moves)
        if follows_line and num_moves < len(line):
            if game.to_move != seat:
                move = line[num_moves]
            follows_line = move == line[num_moves]
        game = game.play(move)
    return game


def replay(env_id: EnvId, games: Sequence[Sequence[int]]) -> pgx.State:
    """Return the states after the moves of many games, `(B, ...)`.

    A game stops before its first illegal move; `pgx_games.num_moves` of the states then
    is less than its number of moves.
    """
    longest = max(map(len, games), default=0)
    moves = np.full((longest, len(games)), -1, np.int32)  # -1 is never legal
    for column, game in enumerate(games):
        moves[: len(game), column] = game
    env = pgx_games.make_env(env_id)
    return _replay(env, pgx_games.init(env, jax.random.key(0), len(games)), moves)


@functools.partial(jax.jit, static_argnames="env")
def _replay(
    env: pgx.Env,
    env_state: pgx.State,
    moves: Int[Array, "T B"] | Int[np.ndarray, "T B"],
) -> pgx.State:
    def play(
        carry: tuple[pgx.State, Bool[Array, " B"]], move: Int[Array, " B"]
    ) -> tuple[tuple[pgx.State, Bool[Array, " B"]], None]:
        env_state, continues = carry
        mask = env_state.legal_action_mask
        is_legal = (move >= 0) & (move < mask.shape[1])
        is_legal &= jnp.take_along_axis(mask, move[:, None], axis=1, mode="clip")[:, 0]
        continues &= is_legal & ~pgx_games.is_finished(env_state)
        after = pgx_games.play_moves(env, env_state, jnp.where(continues, move, 0))
        return (pgx_games.select_games(continues, after, env_state), continues), None

    continues = jnp.ones(moves.shape[1], bool)
    return jax.lax.scan(play, (env_state, continues), jnp.asarray(moves))[0][0]
