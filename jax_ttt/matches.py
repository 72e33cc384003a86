"""Matches played out on PGX, counted seat by seat, with their error bars.

Axes: `B` games.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import pgx
from jaxtyping import Array, Key

from jax_ttt import games
from jax_ttt.players import Player


class Counts(NamedTuple):
    """Games won, drawn and lost by one player; int32 scalars."""

    wins: jax.Array
    draws: jax.Array
    losses: jax.Array


class Match(NamedTuple):
    """A match from the first named player's side, by who moved first."""

    as_first: Counts
    as_second: Counts


def play_match(
    env: pgx.Env,
    key: Key[Array, ""],
    player: Player,
    opponent: Player,
    num_games: int,
) -> Match:
    """Play `num_games` games at once to the end; PGX draws who moves first.

    `player` is player 0 of every game. `key` is consumed. Runs under `jit`.
    """
    key, init_key = jax.random.split(key)
    start = games.init(env, init_key, num_games)

    def going(carry: tuple[jax.Array, pgx.State, jax.Array]) -> jax.Array:
        return ~games.finished(carry[1]).all()

    def ply(
        carry: tuple[jax.Array, pgx.State, jax.Array],
    ) -> tuple[jax.Array, pgx.State, jax.Array]:
        key, env_state, total = carry
        key, player_key, opponent_key = jax.random.split(key, 3)
        ours = env_state.current_player == 0
        action = jnp.where(
            ours, player(player_key, env_state), opponent(opponent_key, env_state)
        )
        env_state, move = games.step(env, env_state, action, 1.0)
        return key, env_state, total + jnp.where(ours, move.reward, -move.reward)

    # Rewards are added up: stepping a finished game again gives 0.
    _, _, total = jax.lax.while_loop(going, ply, (key, start, jnp.zeros(num_games)))
    first = start.current_player == 0

    def count(seat: jax.Array) -> Counts:
        return Counts(
            *(jnp.sum(seat & (jnp.sign(total) == sign)) for sign in (1, 0, -1))
        )

    return Match(as_first=count(first), as_second=count(~first))


def wilson_interval(successes: int, num_games: int, z: float = 1.96) -> tuple:
    """Return the interval, 95 % by default, for a rate seen in `num_games` games.

    Source: Wilson 1927, "Probable inference, the law of succession, and statistical
    inference". With no games it is all of 0 to 1.
    """
    if not num_games:
        return 0.0, 1.0
    rate, share = successes / num_games, z * z / num_games
    centre = (rate + share / 2) / (1 + share)
    half = math.sqrt(rate * (1 - rate) * share + share * share / 4) / (1 + share)
    return max(0.0, centre - half), min(1.0, centre + half)
