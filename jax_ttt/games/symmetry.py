"""The symmetric views of a game's boards: rotations and reflections.

Axes: `G` views, `F` cells, `A` actions.
"""

import functools
from typing import NamedTuple, TypeVar

import jax
import numpy as np
from jaxtyping import Int

from jax_ttt.config.catalogue import GAMES, EnvId

ArrayT = TypeVar("ArrayT", jax.Array, np.ndarray)
"""The type of arrays: JAX's, which may be traced, or NumPy's on the host."""
LeafT = TypeVar("LeafT")
"""The type of a pytree's leaves: `ArrayT`, or what JAX maps the arrays to."""


class Views(NamedTuple):
    """The symmetric views of a board (rotations, reflections), the identity first.

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
