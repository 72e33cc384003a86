"""New games that start at the positions of a pool, which the host fills.

Rounds of counterexamples add positions in which the agent made a mistake.

Axes: `B` games, `C` the pool's capacity.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jaxtyping import Array, Float

from jax_ttt.config.game_facts import EnvId
from jax_ttt.config.settings import Config
from jax_ttt.games import pgx_games, position_keys

CAPACITY = 2**18
"""Maximum number of positions in a pool; the positions of the oldest rounds leave it
first."""
_MAX_BYTES = 2**25
"""Bytes of a pool, at most."""


class Pool(NamedTuple):
    """Positions in which no game is over, as keys of `games.position_keys`."""

    keys: jax.Array | np.ndarray  # (C, words); only the first `size` rows count
    size: jax.Array | np.integer  # () int32


def empty_pool(env_id: EnvId) -> Pool:
    """Return a pool without positions."""
    key = position_keys.numbers_to_keys(position_keys.first_number(env_id))
    capacity = min(CAPACITY, _MAX_BYTES // key.nbytes)
    return Pool(jnp.zeros((capacity, key.shape[1]), key.dtype), jnp.int32(0))


def add_positions(
    pool: Pool, numbers: position_keys.PositionKeys, rng: np.random.Generator
) -> Pool:
    """Return the pool with positions added, as NumPy arrays, each position only once.

    `numbers` come from `position_keys.keys_to_numbers`. If there are more new positions
    than the pool has room for, `rng` draws a sample of them.
    """
    capacity = len(pool.keys)
    old = position_keys.keys_to_numbers(np.asarray(pool.keys)[: int(pool.size)])
    new = np.setdiff1d(numbers, old)
    if len(new) > capacity:
        new = rng.choice(new, capacity, replace=False)
    newest = np.concatenate([old, new])[-capacity:]
    keys = np.zeros_like(pool.keys)
    keys[: len(newest)] = position_keys.numbers_to_keys(newest)
    return Pool(keys, np.int32(len(newest)))


def start_in_pool(
    config: Config,
    pool: Pool | None,
    uniform: Float[Array, " B"] | None,
    new_games: pgx.State,
) -> pgx.State:
    """Return new games, of which the share `start_share` starts in the pool.

    The others are `new_games`, which are `B` games, or one for all of them. `uniform`
    are random numbers in [0, 1): a game whose number is below the share starts in the
    pool, and the number also selects the position. Newer positions are more frequent:
    the newest hundredth gets a tenth of these games. While the pool is empty, or
    without a pool, the result is `new_games`.
    """
    if pool is None or uniform is None:
        return new_games
    share = config.start_share
    # Below the share, `uniform / share` is uniform; its square is mostly near 0.
    age = (jnp.square(uniform / share) * pool.size).astype(jnp.int32)
    keys = pool.keys[jnp.clip(pool.size - 1 - age, 0)]
    # An empty pool has keys too, of zeros; `starts_in_pool` then is False.
    in_pool = position_keys.states_of(config.env_id, keys)
    starts_in_pool = (uniform < share) & (pool.size > 0)
    new_games = jax.tree.map(
        lambda leaf, like: jnp.broadcast_to(leaf, like.shape), new_games, in_pool
    )
    return pgx_games.select_games(starts_in_pool, in_pool, new_games)
