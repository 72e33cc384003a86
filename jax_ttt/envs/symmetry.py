"""Positions that are turned or mirrored views of each other, in games that are walked.

Axes: `P` positions, `A` actions.
"""

import functools
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from jax_ttt.config.settings import EnvId
from jax_ttt.envs import pgx_games
from jax_ttt.envs import tree as trees


@functools.cache
def first_views(env_id: EnvId) -> tuple[Int[np.ndarray, " P"], Int[np.ndarray, " P"]]:
    """Return for each position the first one that is a view of it, and which view.

    The views are numbered as in `games.symmetries`.
    """
    tree, views = trees.walked(env_id), pgx_games.symmetries(env_id)
    cells = trees.apart(lambda: np.asarray(pgx_games.features(tree.obs)))
    level = np.repeat(np.arange(len(tree.level_start) - 1), np.diff(tree.level_start))
    level = level.tolist()
    position = {
        key: index
        for index, key in enumerate(zip(level, map(bytes, cells), strict=True))
    }
    turned = [
        [position[key] for key in zip(level, map(bytes, cells[:, view]), strict=True)]
        for view in views
    ]
    return np.min(turned, axis=0).astype(np.int32), np.argmin(turned, axis=0)


@functools.cache
def after_states(env_id: EnvId, canonical: bool) -> Int[np.ndarray, "P A"]:
    """Return the position after each move, 0 where illegal.

    With `canonical`, the first of those that are views of it.
    """
    successor = trees.walked(env_id).successor
    return first_views(env_id)[0][successor] if canonical else successor


class Classes(NamedTuple):
    """The positions to decide (D) of which C are views of all others.

    Cell `i` of decision `d` is cell `cells[d, i]` of position `boards[row[d]]`.
    """

    boards: Int[np.ndarray, " C"]
    row: Int[np.ndarray, " D"]
    cells: Int[np.ndarray, "D A"]


@functools.cache
def classes(env_id: EnvId) -> Classes:
    """Return the symmetry classes of the positions to decide."""
    decisions = trees.walked(env_id).decisions
    first, view = (x[decisions] for x in first_views(env_id))
    boards, row = np.unique(first, return_inverse=True)
    cells = np.argsort(pgx_games.symmetries(env_id), axis=1)[view]
    return Classes(boards, row.reshape(-1), cells)
