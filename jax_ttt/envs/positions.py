"""Indices of positions of an enumerated game: by board, by symmetry, after a move.

All arrays are NumPy's. Axes: `P` positions, `A` actions, `F` cells, `N` board numbers.
"""

import functools

import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from jax_ttt.config.architecture import Architecture
from jax_ttt.config.catalogue import EnvId
from jax_ttt.config.choices import NetworkKind
from jax_ttt.envs import stones, symmetry
from jax_ttt.envs import tree as trees
from jax_ttt.envs.stones import Positions

_NEEDED: dict[NetworkKind, bool] = {"mlp": False, "table": True}
"""Whether a kind of network needs the positions of its game."""


@functools.cache
def _cells(env_id: EnvId) -> Int[np.ndarray, "P F"]:
    """Return the cells of every position: +1 own stone, -1 opponent's stone, 0 free."""
    return stones.cells_on_host(trees.enumerated(env_id).obs)


@functools.cache
def index(env_id: EnvId) -> Int[np.ndarray, " N"]:
    """Return the position index of each board number (see `stones.number`).

    Boards that no game reaches have index 0.
    """
    cells = _cells(env_id)
    position = np.zeros(3 ** cells.shape[1], np.int32)
    numbers = np.asarray(stones.number(jnp.asarray(cells, jnp.float32)))
    position[numbers] = np.arange(len(cells))
    return position


@functools.cache
def first_views(env_id: EnvId) -> tuple[Int[np.ndarray, " P"], Int[np.ndarray, " P"]]:
    """Return for each position the first of its symmetric positions, and the view.

    The view is its index in `symmetry.views`. Without listed symmetries, each position
    is its own first one.
    """
    tree, views = trees.enumerated(env_id), symmetry.views(env_id)
    if views is None:
        alone = np.arange(tree.num_positions, dtype=np.int32)
        return alone, np.zeros_like(alone)
    return symmetry.find_first_views(_cells(env_id), tree.level_start, views)


@functools.cache
def after_states(env_id: EnvId, canonical: bool) -> Int[np.ndarray, "P A"]:
    """Return the position after each move, 0 where illegal.

    With `canonical`, return the first of its symmetric positions instead.
    """
    successor = trees.enumerated(env_id).successor
    return first_views(env_id)[0][successor] if canonical else successor


def positions(env_id: EnvId, canonical: bool) -> Positions:
    """Return the indices that a table needs to find a board's values."""
    return Positions(
        jnp.asarray(index(env_id)), jnp.asarray(after_states(env_id, canonical))
    )


def of_network(architecture: Architecture) -> Positions | None:
    """Return the positions that a network of this architecture needs; None for an MLP.

    The first call for a table enumerates its game, so call it outside a trace.
    """
    if not _NEEDED[architecture.network]:
        return None
    return positions(architecture.env_id, architecture.canonical)
