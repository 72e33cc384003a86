"""Indices of positions in an enumerated game: of each board, and after each move.

Axes: `P` positions, `A` actions, `F` cells, `N` board numbers.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from jax_ttt.config.game_facts import EnvId
from jax_ttt.config.settings import Architecture
from jax_ttt.games import stone_boards
from jax_ttt.games import tree as trees
from jax_ttt.games.stone_boards import Positions


def position_index(env_id: EnvId) -> Int[np.ndarray, " N"]:
    """Return the position index of each board number (see `stone_boards.board_number`).

    Boards that no game reaches have index 0.
    """
    cells = stone_boards.cells_on_host(trees.enumerated(env_id).obs)
    index = np.zeros(3 ** cells.shape[1], np.int32)
    index[stone_boards.board_number_on_host(cells)] = np.arange(len(cells))
    return index


def after_states(env_id: EnvId, canonical: bool) -> Int[np.ndarray, "P A"]:
    """Return the position after each move, 0 where illegal.

    With `canonical`, it is the first position with the same canonical board, so that
    symmetric positions share one index.
    """
    tree = trees.enumerated(env_id)
    return tree.representative[tree.successor] if canonical else tree.successor


def positions_for(architecture: Architecture) -> Positions | None:
    """Return the indices by which a table finds a board's values; None for an MLP.

    The first call for a table enumerates its game, so call it outside a trace.
    """
    if not architecture.network.is_table:
        return None
    after = after_states(architecture.env_id, architecture.network.canonical)
    return Positions(
        by_number=jnp.asarray(position_index(architecture.env_id)),
        after=jnp.asarray(after),
    )
