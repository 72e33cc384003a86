"""Matches of two players: games on PGX, on the device or on the host, by seat.

Axes: `B` games.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jax.tree_util import Partial
from jaxtyping import Array, Bool, Float, Int, Key

from jax_ttt.config.game_facts import SEATS, SeatSetting
from jax_ttt.config.grade import Match, Rates
from jax_ttt.games import pgx_games
from jax_ttt.games.pgx_games import ChooseFn
from jax_ttt.players.player import Player
from jax_ttt.players.saved_agents import GreedyPlayer
from jax_ttt.players.user_players import AskedPlayer
from jax_ttt.solver.proof import Line

MatchCounts = Int[Array, "2 3"]
"""The numbers of games that a player wins, draws and loses, by its seat."""


class _Games(NamedTuple):
    """Games while they are played."""

    key: jax.Array
    env_state: pgx.State
    total: jax.Array  # (B,) float32 sum of rewards so far
    moves: jax.Array  # () int32 moves so far, in all games


@functools.partial(jax.jit, static_argnames=("env", "num_games", "seat"))
def play_match(
    env: pgx.Env,
    key: Key[Array, ""],
    player: Partial | GreedyPlayer,
    opponent: Partial,
    num_games: int,
    seat: SeatSetting = "both",
) -> tuple[MatchCounts, Int[Array, ""]]:
    """Play `num_games` games at once to the end; `key` is consumed.

    The player has the seat in all games, with `both` a random one in each. Returns its
    results by seat, and the number of moves in all games.
    """
    init_key, play_key = jax.random.split(key)
    start = pgx_games.init(env, init_key, num_games)
    seated = pgx_games.player_in_seat(start, seat)
    first = pgx_games.is_turn(start, seated)
    total, moves = _play(env, play_key, start, (player, opponent), seated)
    return jnp.stack([_count(total, first), _count(total, ~first)]), moves


def sample_match(
    player: Player, opponent: Player, key: Key[Array, ""], num_games: int
) -> Match:
    """Return the player's results in `num_games` in each seat; `key` is consumed.

    Raises:
        Refused: a program gives no answer, or an illegal one.
    """
    first_key, second_key = jax.random.split(key)
    first = sample_pair(player, opponent, first_key, num_games)
    second = sample_pair(opponent, player, second_key, num_games)
    return Match(first=first, second=second.of_opponent())


def sample_pair(
    first: Player, second: Player, key: Key[Array, ""], num_games: int
) -> Rates:
    """Return the results of `first` in games against `second`, which moves second.

    The games are played on the device, or on the host if a program is asked. `key` is
    consumed.

    Raises:
        Refused: a program gives no answer, or an illegal one.
    """
    if any(_is_asked(player) for player in (first, second)):
        return Rates.sampled(play_on_host(first, second, key, num_games))
    counts, _ = play_match(
        env=pgx_games.make_env(first.env_id),
        key=key,
        player=first.choose,
        opponent=second.choose,
        num_games=num_games,
        seat="first",
    )
    return Rates.sampled(counts[0].tolist())


def _is_asked(player: Player) -> bool:
    """Return whether a player is asked in each game."""
    return isinstance(player, AskedPlayer) and player.policy is None


def _play(
    env: pgx.Env,
    key: Key[Array, ""],
    start: pgx.State,
    players: tuple[ChooseFn, ChooseFn],
    seated: Int[Array, " B"],
) -> tuple[Float[Array, " B"], Int[Array, ""]]:
    """Play all games to the end; `seated` are the PGX ids of `players[0]`.

    Returns the total reward of `players[0]` in each game, and the number of moves in
    all games.
    """

    def is_going(games: _Games) -> jax.Array:
        return ~pgx_games.is_finished(games.env_state).all()

    def ply(games: _Games) -> _Games:
        key, env_state, total, moves = games
        key, player_key, opponent_key = jax.random.split(key, 3)
        is_ours = pgx_games.is_turn(env_state, seated)
        action = jnp.where(
            is_ours,
            _moves_where(is_ours, players[0], player_key, env_state),
            _moves_where(~is_ours, players[1], opponent_key, env_state),
        )
        env_state, move = pgx_games.step(env, env_state, action, 1.0)
        total += jnp.where(is_ours, move.reward, -move.reward)
        return _Games(key, env_state, total, moves + move.live.sum(dtype=jnp.int32))

    # Rewards are summed over all steps: a step of a finished game gives 0.
    begin = _Games(
        key=key, env_state=start, total=jnp.zeros(len(seated)), moves=jnp.int32(0)
    )
    end = jax.lax.while_loop(is_going, ply, begin)
    return end.total, end.moves


def _moves_where(
    is_turn: Bool[Array, " B"],
    player: ChooseFn,
    key: Key[Array, ""],
    env_state: pgx.State,
) -> Int[Array, " B"]:
    """Return the player's moves; zeros, without a call, if it is nowhere its turn."""

    def no_moves(key: Key[Array, ""], env_state: pgx.State) -> Int[Array, " B"]:
        del key, env_state
        return jnp.zeros(len(is_turn), jnp.int32)

    return jax.lax.cond(is_turn.any(), player, no_moves, key, env_state)


def _count(
    total: Float[Array, " B"], is_counted: Bool[Array, " B"]
) -> Int[Array, " 3"]:
    """Count the wins, draws and losses of the games where `is_counted` is True."""
    return jnp.stack(
        [jnp.sum(is_counted & (jnp.sign(total) == end)) for end in (1, 0, -1)]
    )


def play_on_host(
    first: Player, second: Player, key: Key[Array, ""], num_games: int
) -> Int[np.ndarray, " 3"]:
    """Play games on the host, `first` moving first; `key` is consumed.

    Returns the numbers of games that `first` wins, draws and loses.

    Raises:
        Refused: a program gives no answer, or an illegal one.
    """
    env = pgx_games.make_env(first.env_id)
    start_key, key = jax.random.split(key)
    states = pgx_games.init(env, start_key, num_games)
    first_id = pgx_games.player_in_seat(states, "first")
    lines: list[Line] = [()] * num_games
    total = np.zeros(num_games)
    while not (is_over := np.asarray(pgx_games.is_finished(states))).all():
        is_first = np.asarray(pgx_games.is_turn(states, first_id))
        key, move_key = jax.random.split(key)
        actions = np.zeros(num_games, np.int32)
        turns = zip((first, second), SEATS, (is_first, ~is_first), strict=True)
        for player, seat, is_turn in turns:
            is_due = is_turn & ~is_over
            if not is_due.any():
                continue
            # A compiled program gets all games, since it is compiled for their number.
            rows = np.flatnonzero(is_due | (not _is_asked(player)))
            moves = np.zeros(num_games, np.int32)
            moves[rows] = player.moves(
                [lines[row] for row in rows],
                jax.tree.map(lambda leaf, rows=rows: leaf[rows], states),
                move_key,
                seat,
            )
            actions = np.where(is_turn, moves, actions)
        states = pgx_games.play_moves(env, states, actions)
        total += np.asarray(pgx_games.reward_to(states, first_id))
        for place in np.flatnonzero(~is_over).tolist():
            lines[place] = (*lines[place], int(actions[place]))
    return np.array([(total > 0).sum(), (total == 0).sum(), (total < 0).sum()])
