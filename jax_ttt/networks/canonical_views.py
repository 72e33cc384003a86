"""The canonical view of a board, the same for all its rotated and mirrored copies.

A view is a permutation of the board's cells, and of its actions.

Axes: `B` boards, `H W C` rows, columns and planes, `F` cells, `A` actions, `G` views.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Shaped

from jax_ttt.games.symmetry import Views

DIGITS = 15
"""Number of base-3 digits that a float32 represents exactly."""


def least_views(cells: Float[Array, "B F"], views: Views) -> Bool[Array, "B G"]:
    """Return a mask of the canonical view of each board.

    The cells of a view are -1, 0 or 1. As digits in base 3, the last cell first, they
    form a number, and the canonical view has the least one. If a board is its own
    image, several views are marked. One matrix product computes the numbers of all
    views; it is exact, as longer numbers are split into parts of `DIGITS` digits.
    """
    num_views, num_cells = views.cells.shape
    num_parts = -(-num_cells // DIGITS)
    digits = np.zeros((num_cells, num_views, num_parts), np.float32)
    for rank in range(num_cells):
        worth = 3.0 ** (rank % DIGITS)
        digits[views.cells[:, rank], np.arange(num_views), rank // DIGITS] = worth
    numbers = jnp.dot(cells, digits.reshape(num_cells, -1), precision="highest")
    numbers = numbers.reshape(len(cells), num_views, num_parts)
    *lower, highest = (numbers[..., part] for part in range(num_parts))
    least = highest == highest.min(axis=-1, keepdims=True)
    for number in reversed(lower):
        number = jnp.where(least, number, jnp.inf)
        least &= number == number.min(axis=-1, keepdims=True)
    return least


def to_canonical(
    obs: Shaped[Array, "B H W C"], views: Views, least: Bool[Array, "B G"]
) -> Shaped[Array, "B H W C"]:
    """Return the canonical view of each board."""
    order = jnp.asarray(views.cells)[jnp.argmax(least, axis=-1)]  # (B, F)
    flat = obs.reshape(obs.shape[0], -1, obs.shape[-1])
    return jnp.take_along_axis(flat, order[..., None], axis=1).reshape(obs.shape)


def to_canonical_actions(views: Views, least: Bool[Array, "B G"]) -> Int[Array, "B A"]:
    """Return which action of the canonical view each action of the board is.

    On a board that is its own image, symmetric actions are the same one.
    """
    inverse = np.argsort(views.actions, axis=-1)[None]
    return jnp.where(least[..., None], inverse, len(views.actions[0])).min(axis=1)


def from_canonical(
    values: Float[Array, "heads B A"], views: Views, least: Bool[Array, "B G"]
) -> Float[Array, "heads B A"]:
    """Map the values of the canonical view's actions to the board's own actions."""
    back = to_canonical_actions(views, least)
    return jnp.take_along_axis(values, jnp.broadcast_to(back, values.shape), axis=-1)
