"""Positions of an enumerated game: by their boards, after moves, and by symmetry.

All arrays are NumPy's. Axes: `P` positions, `D` positions to decide, `A` actions, `F`
cells, `N` board numbers.
"""

import functools
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from jax_ttt.config.catalogue import EnvId
from jax_ttt.envs import stones, symmetry
from jax_ttt.envs import tree as trees
from jax_ttt.envs.stones import Positions


@functools.cache
def _cells(env_id: EnvId) -> Int[np.ndarray, "P F"]:
    """Return the cells of every position: +1 the mover's, -1 the opponent's, 0 free."""
    obs = trees.walked(env_id).obs.astype(np.int8)
    return (obs[..., 0] - obs[..., 1]).reshape(len(obs), -1)


@functools.cache
def index(env_id: EnvId) -> Int[np.ndarray, " N"]:
    """Return the position of every board's number, as `stones.number` counts them.

    A board that no play reaches has position 0.
    """
    cells = _cells(env_id)
    position = np.zeros(3 ** cells.shape[1], np.int32)
    numbers = np.asarray(stones.number(jnp.asarray(cells, jnp.float32)))
    position[numbers] = np.arange(len(cells))
    return position


@functools.cache
def first_views(env_id: EnvId) -> tuple[Int[np.ndarray, " P"], Int[np.ndarray, " P"]]:
    """Return for each position the first one that is a view of it, and which view.

    The views are numbered as in `symmetry.views`; without any, a position is alone.
    """
    tree, views = trees.walked(env_id), symmetry.views(env_id)
    if views is None:
        return np.arange(tree.num_positions, dtype=np.int32), np.zeros(
            tree.num_positions, int
        )
    cells = _cells(env_id)
    level = np.repeat(np.arange(len(tree.level_start) - 1), np.diff(tree.level_start))
    level = level.tolist()
    position = {
        key: index
        for index, key in enumerate(zip(level, map(bytes, cells), strict=True))
    }
    turned = [
        [position[key] for key in zip(level, map(bytes, cells[:, view]), strict=True)]
        for view in views.cells
    ]
    return np.min(turned, axis=0).astype(np.int32), np.argmin(turned, axis=0)


@functools.cache
def after_states(env_id: EnvId, canonical: bool) -> Int[np.ndarray, "P A"]:
    """Return the position after each move, 0 where illegal.

    With `canonical`, the first of those that are views of it.
    """
    successor = trees.walked(env_id).successor
    return first_views(env_id)[0][successor] if canonical else successor


def positions(env_id: EnvId, canonical: bool) -> Positions:
    """Return what a table needs to find a board's values."""
    return Positions(
        jnp.asarray(index(env_id)), jnp.asarray(after_states(env_id, canonical))
    )


class Classes(NamedTuple):
    """The positions to decide (D) of which C are views of all others.

    Action `a` in decision `d` is action `actions[d, a]` in position `boards[row[d]]`.
    """

    boards: Int[np.ndarray, " C"]
    row: Int[np.ndarray, " D"]
    actions: Int[np.ndarray, "D A"]


@functools.cache
def classes(env_id: EnvId) -> Classes | None:
    """Return the symmetry classes of the positions to decide, None without views."""
    views = symmetry.views(env_id)
    if views is None:
        return None
    decisions = trees.walked(env_id).decisions
    first, view = (x[decisions] for x in first_views(env_id))
    boards, row = np.unique(first, return_inverse=True)
    actions = np.argsort(views.actions, axis=1)[view]
    return Classes(boards, row.reshape(-1), actions)
