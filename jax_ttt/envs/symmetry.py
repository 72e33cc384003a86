"""The symmetries of a game as arrays.

Axes: `G` views, `F` cells, `A` actions.
"""

import functools
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from jax_ttt.config.catalogue import GAMES, EnvId


class Views(NamedTuple):
    """The views of a board in which play is the same, the plain one first.

    Cell `i` of view `g` is cell `cells[g, i]` of the board, and action `a` in it is
    action `actions[g, a]` on the board.
    """

    cells: Int[np.ndarray, "G F"]
    actions: Int[np.ndarray, "G A"]


@functools.cache
def views(env_id: EnvId) -> Views | None:
    """Return the game's views; None where the catalogue lists none."""
    listed = GAMES[env_id].symmetries
    if not listed:
        return None
    every = zip(*listed, strict=True)
    return Views(*(np.array(permutations) for permutations in every))
