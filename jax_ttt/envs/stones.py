"""Boards of stones as arrays, as numbers in base 3, and as positions of a game.

Axes: `B` boards, `H` rows, `W` columns, `F` cells, `P` positions, `A` actions, `N`
numbers.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Shaped

MOST_CELLS = 15
"""Cells of a board that can be numbered: float32 holds whole numbers below `2**24`."""


class Positions(NamedTuple):
    """Where the boards of an enumerated game stand among its positions: data."""

    by_number: jax.Array  # (N,) int32 position of each board's number
    after: jax.Array  # (P, A) int32 position after each move, 0 where illegal


@jax.jit
def cells(obs: Shaped[Array, "B H W 2"]) -> Float[Array, "B F"]:
    """Return the mover's stones as +1, the opponent's as -1 and free cells as 0."""
    mine, yours = obs[..., 0], obs[..., 1]
    stones = mine.astype(jnp.float32) - yours.astype(jnp.float32)
    return stones.reshape(stones.shape[0], -1)


def cells_on_host(obs: Bool[np.ndarray, "B H W 2"]) -> Int[np.ndarray, "B F"]:
    """Return the same as int8 NumPy arrays, without a compiled program."""
    signed = obs.astype(np.int8)
    return (signed[..., 0] - signed[..., 1]).reshape(len(signed), -1)


def number(cells: Float[Array, "B F"]) -> Int[Array, " B"]:
    """Number boards from 0 to `3**F - 1`, one number a board.

    A cell is 0 for the opponent's stone, 1 if free, 2 for the mover's; the last cell
    counts least.

    Raises:
        ValueError: the board has more than `MOST_CELLS` cells.
    """
    num_cells = cells.shape[1]
    if num_cells > MOST_CELLS:
        raise ValueError(f"a board of {num_cells} cells has no number in float32")
    digits = 3.0 ** np.arange(num_cells)[::-1].astype(np.float32)
    numbers = jnp.dot(cells + 1, digits, precision="highest")
    return jnp.round(numbers).astype(jnp.int32)


def locate(index: Int[Array, " N"], obs: Shaped[Array, "B H W 2"]) -> Int[Array, " B"]:
    """Return the positions of boards, each as its mover sees it."""
    return index[number(cells(obs))]
