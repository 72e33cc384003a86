"""Random samples of the levels that a search did not enumerate.

They prove nothing. But most lines of play that lose end late, and what a sample has of
them can be learned from.

Axes: `P` positions of a level.
"""

import numpy as np
from jaxtyping import UInt64

from jax_ttt.envs import packing
from jax_ttt.solver import expansion
from jax_ttt.solver.losing_lines import OnBatch
from jax_ttt.solver.reach import Reach
from jax_ttt.solver.successors import OPEN


def follow_sample(
    reach: Reach,
    num_positions: int,
    rng: np.random.Generator,
    on_batch: OnBatch = lambda level, done: None,
) -> list[UInt64[np.ndarray, "_"]]:
    """Return the levels after the expanded ones, `num_positions` in each at most.

    The first is drawn from the level that `reach` did not expand, each other one from
    what the moves in the one before lead to. Keys ascend; the last level has no open
    games after it. `on_batch` gets a level and how many of its positions are done.
    """
    levels: list[np.ndarray] = []
    number, keys = reach.num_expanded, np.asarray(reach.keys[-1])
    while len(keys):
        if len(keys) > num_positions:
            keys = np.sort(rng.choice(keys, num_positions, replace=False))
        levels.append(keys)
        led_to = []
        for rows, after in expansion.expanded(reach.subject, number, keys):
            led_to.append(packing.as_numbers(after.keys[after.result == OPEN]))
            on_batch(number, rows.stop)
        number, keys = number + 1, np.unique(np.concatenate(led_to))
    return levels
