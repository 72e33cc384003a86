"""Indices of positions of an enumerated game: by board, and after a move.

All arrays are NumPy's. Axes: `P` positions, `A` actions, `F` cells, `N` board numbers.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from jax_ttt.config.game_facts import EnvId
from jax_ttt.config.settings import Architecture
from jax_ttt.games import stones
from jax_ttt.games import tree as trees
from jax_ttt.games.stones import Positions


def index(env_id: EnvId) -> Int[np.ndarray, " N"]:
    """Return the position index of each board number (see `stones.number`).

    Boards that no game reaches have index 0.
    """
    cells = stones.cells_on_host(trees.enumerated(env_id).obs)
    position = np.zeros(3 ** cells.shape[1], np.int32)
    position[stones.number_on_host(cells)] = np.arange(len(cells))
    return position


def after_states(env_id: EnvId, canonical: bool) -> Int[np.ndarray, "P A"]:
    """Return the position after each move, 0 where illegal.

    With `canonical`, return the first position with the same canonical board instead.
    """
    tree = trees.enumerated(env_id)
    return tree.first_view[tree.successor] if canonical else tree.successor


def positions(env_id: EnvId, canonical: bool) -> Positions:
    """Return the indices that a table needs to find a board's values."""
    return Positions(
        jnp.asarray(index(env_id)), jnp.asarray(after_states(env_id, canonical))
    )


def positions_for(architecture: Architecture) -> Positions | None:
    """Return the positions that a network of this architecture needs; None for an MLP.

    The first call for a table enumerates its game, so call it outside a trace.
    """
    if not architecture.network.is_table:
        return None
    return positions(architecture.env_id, architecture.network.canonical)
