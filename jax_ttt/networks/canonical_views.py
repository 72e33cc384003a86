"""The canonical view of a board: one for all that are rotated or mirrored copies.

Axes: `B` boards, `H W C` planes, `A` actions, `G` views.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from jax_ttt.envs.symmetry import Views

DIGITS = 15
"""Digits in base 3 that a float32 holds exactly."""


def least_views(planes: Float[Array, "B H W C"], views: Views) -> Bool[Array, "B G"]:
    """Return which views of each board are its canonical one.

    That is the view whose entries, -1, 0 or 1 and read as digits in base 3, the last
    one first, make the least number; on a board that is its own image, several. The
    numbers of every view of every board are one product, exact as a number has at most
    `DIGITS` digits; longer ones are compared part by part.
    """
    num_boards, *shape = planes.shape
    num_views, channels = len(views.cells), shape[-1]
    entries = views.cells[:, :, None] * channels + np.arange(channels)
    order = entries.reshape(num_views, -1)  # of the board's entries, as the view shows
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


def turned(
    planes: Float[Array, "B H W C"], views: Views, least: Bool[Array, "B G"]
) -> Float[Array, "B H W C"]:
    """Return the canonical view of each board."""
    cells = jnp.asarray(views.cells)[jnp.argmax(least, axis=-1)]
    flat = planes.reshape(planes.shape[0], -1, planes.shape[-1])
    seen = jnp.take_along_axis(flat, cells[..., None], axis=1)
    return seen.reshape(planes.shape)


def turned_back(
    values: Float[Array, "heads B A"], views: Views, least: Bool[Array, "B G"]
) -> Float[Array, "heads B A"]:
    """Return the values of the board's actions from those of its canonical view.

    Actions that mirror each other, on a board that is its own mirror image, share one.
    """
    inverse = np.argsort(views.actions, axis=-1)[None]
    back = jnp.where(least[..., None], inverse, values.shape[-1]).min(axis=1)
    return jnp.take_along_axis(values, jnp.broadcast_to(back, values.shape), axis=-1)
