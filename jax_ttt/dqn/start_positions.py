"""New games that start at positions of a pool, which the host fills.

Axes: `B` games, `C` the pool's capacity.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jaxtyping import Array, Float, UInt64

from jax_ttt.config.settings import RunSettings
from jax_ttt.games import packing, pgx_games

CAPACITY = 2**18
"""Most positions of a pool; those of the oldest rounds leave it first."""


class Pool(NamedTuple):
    """Positions in which no game is over, as keys of `games.packing`."""

    keys: jax.Array | np.ndarray  # (C, 2) uint32; only the first `size` rows count
    size: jax.Array | np.integer  # () int32


def empty() -> Pool:
    """Return a pool without positions."""
    return Pool(jnp.zeros((CAPACITY, 2), jnp.uint32), jnp.int32(0))


def with_positions(
    pool: Pool, numbers: UInt64[np.ndarray, " N"], rng: np.random.Generator
) -> Pool:
    """Return the pool with positions added, as NumPy arrays; none is in it twice.

    `numbers` are those of `packing.keys_to_numbers`. If there are more than the pool
    holds, `rng` draws those that it gets.
    """
    before = packing.keys_to_numbers(np.asarray(pool.keys)[: int(pool.size)])
    new = np.setdiff1d(numbers, before)
    if len(new) > len(pool.keys):
        new = rng.choice(new, len(pool.keys), replace=False)
    kept = np.concatenate([before, new])[-len(pool.keys) :]
    keys = np.zeros(pool.keys.shape, np.uint32)
    keys[: len(kept)] = packing.numbers_to_keys(kept)
    return Pool(keys, np.int32(len(kept)))


def new_games(
    settings: RunSettings,
    pool: Pool | None,
    uniform: Float[Array, " B"] | None,
    fresh: pgx.State,
) -> pgx.State:
    """Return new games, of which the share `start_share` starts in the pool.

    The others are `fresh`, one game for all or one for each; so are all of them while
    the pool is empty. `uniform` are random numbers in [0, 1): below the share, one
    also chooses the position, the newest positions more often: the newest hundredth
    for a tenth of these games. Without a pool the result is `fresh`.
    """
    if pool is None or uniform is None:
        return fresh
    share = settings.start_share
    age = (jnp.square(uniform / share) * pool.size).astype(jnp.int32)
    keys = pool.keys[jnp.clip(pool.size - 1 - age, 0)]
    # An empty pool gives positions too; they are not picked.
    there = packing.to_states(settings.env_id, packing.unpack(settings.env_id, keys))
    begins = (uniform < share) & (pool.size > 0)
    fresh = jax.tree.map(
        lambda leaf, like: jnp.broadcast_to(leaf, like.shape), fresh, there
    )
    return pgx_games.pick(begins, there, fresh)
