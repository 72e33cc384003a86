"""Enumerate what a player without a plan reaches; print each level's time and memory.

python docs/large_search.py GAME SEAT [MAX_POSITIONS]

The player's moves are legal and look random, but depend on the position alone, so it
reaches far more positions than a player that tries to win.
"""

import resource
import sys
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jax.tree_util import Partial
from jaxtyping import Array, Int, Key

from jax_ttt.config.game_facts import EnvId, Seat
from jax_ttt.solver import reached_positions
from jax_ttt.solver.batches import SearchedPlayer
from jax_ttt.solver.reached_positions import Reach


def _hash(numbers: jax.Array) -> jax.Array:
    """Return a hash of uint32 numbers: each bit depends on all bits of a number."""
    numbers = (numbers ^ (numbers >> 16)) * jnp.uint32(0x45D9F3B)
    numbers = (numbers ^ (numbers >> 16)) * jnp.uint32(0x45D9F3B)
    return numbers ^ (numbers >> 16)


def pseudo_random(key: Key[Array, ""], env_state: pgx.State) -> Int[Array, " B"]:
    """Return the legal move with the largest hash of board and move."""
    del key
    stones = env_state.observation.reshape(len(env_state.observation), -1)
    weights = np.random.default_rng(0).integers(2**32, size=stones.shape[1], dtype="u4")
    board = jnp.where(stones, weights[None], 0).sum(axis=1, dtype=jnp.uint32)
    legal = env_state.legal_action_mask
    moves = jnp.arange(legal.shape[1], dtype=jnp.uint32)
    numbers = _hash(_hash(board)[:, None] + moves[None]) >> 1
    return jnp.where(legal, numbers.astype(jnp.int32), -1).argmax(axis=1)


PLAYER = Partial(pseudo_random)


def row(search: Reach, begin: float) -> str:
    """Return the positions so far, and what they took, as a row of a table."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (
        f"| {len(search.keys) - 1} | {search.num_positions:,} "
        f"| {time.monotonic() - begin:.0f} s | {used.ru_utime + used.ru_stime:.0f} s "
        f"| {used.ru_maxrss / 2**20:.2f} GB |"
    )


def main(env_id: EnvId, seat: Seat, max_positions: str = "1000000000000") -> None:
    """Print a row for each level, and one at the end."""
    search = Reach(
        SearchedPlayer(
            env_id=env_id, choose=PLAYER, seat=seat, merge_symmetric=False, batch=2**13
        )
    )
    begin, level = time.monotonic(), 0

    def on_batch(search: Reach, last: int, done: int) -> None:
        nonlocal level
        if len(search.keys) > level:
            level = len(search.keys)
            print(row(search, begin), flush=True)

    print(
        "| moves made | positions | time | CPU time | memory |\n|---|---|---|---|---|"
    )
    reached_positions.follow_all_lines(search, int(max_positions), on_batch)
    print(row(search, begin))
    print("complete" if search.is_complete else "not complete", search.ends)


if __name__ == "__main__":
    words: list[Any] = sys.argv[1:]
    main(*words)
