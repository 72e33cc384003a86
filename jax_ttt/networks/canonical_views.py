"""The canonical view of a board, the same for all its rotated and mirrored copies.

Axes: `B` boards, `H W C` planes, `A` actions, `G` views.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from jax_ttt.envs.symmetry import Views

DIGITS = 15
"""Number of base-3 digits that a float32 represents exactly."""


def least_views(planes: Float[Array, "B H W C"], views: Views) -> Bool[Array, "B G"]:
    """Return a mask of the canonical view of each board.

    The entries of a view are -1, 0 or 1. As digits in base 3, the last entry first,
    they form a number, and the canonical view has the least one. If a board is its
    own image, several views are marked. One matrix product computes the numbers of all
    views; it is exact, as longer numbers are split into parts of `DIGITS` digits.
    """
    num_boards, *shape = planes.shape
    num_views, channels = len(views.cells), shape[-1]
    entries = views.cells[:, :, None] * channels + np.arange(channels)
    order = entries.reshape(num_views, -1)  # the board's entries in the view's order
    num_parts = -(-order.shape[1] // DIGITS)
    digits = np.zeros((order.shape[1], num_views, num_parts), np.float32)
    for rank in range(order.shape[1]):
        worth = 3.0 ** (rank % DIGITS)
        digits[order[:, rank], np.arange(num_views), rank // DIGITS] = worth
    flat = planes.reshape(num_boards, -1)
    numbers = jnp.dot(flat, digits.reshape(len(flat[0]), -1), precision="highest")
    numbers = numbers.reshape(num_boards, num_views, num_parts)
    *lower, highest = (numbers[..., part] for part in range(num_parts))
    least = highest == highest.min(axis=-1, keepdims=True)
    for number in reversed(lower):
        number = jnp.where(least, number, jnp.inf)
        least &= number == number.min(axis=-1, keepdims=True)
    return least


def to_canonical(
    planes: Float[Array, "B H W C"], views: Views, least: Bool[Array, "B G"]
) -> Float[Array, "B H W C"]:
    """Return the canonical view of each board."""
    cells = jnp.asarray(views.cells)[jnp.argmax(least, axis=-1)]
    flat = planes.reshape(planes.shape[0], -1, planes.shape[-1])
    seen = jnp.take_along_axis(flat, cells[..., None], axis=1)
    return seen.reshape(planes.shape)


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
