"""Boards of stones as arrays, as numbers in base 3, and as positions of a game.

Axes: `B` boards, `H` rows, `W` columns, `F` cells, `P` positions, `A` actions, `N`
board numbers.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Shaped

MOST_CELLS = 15
"""Most cells of a board with a number.

float32 represents integers exactly up to `2**24`, and `3**15 < 2**24 < 3**16`.
"""


class Positions(NamedTuple):
    """Indices of boards among the positions of an enumerated game."""

    by_number: jax.Array  # (N,) int32 position of each board number
    after: jax.Array  # (P, A) int32 position after each move, 0 where illegal


@jax.jit
def cells(obs: Shaped[Array, "B H W 2"]) -> Float[Array, "B F"]:
    """Return the mover's stones as +1, the opponent's as -1 and free cells as 0."""
    mine, yours = obs[..., 0], obs[..., 1]
    stones = mine.astype(jnp.float32) - yours.astype(jnp.float32)
    return stones.reshape(stones.shape[0], -1)


def cells_on_host(obs: Bool[np.ndarray, "B H W 2"]) -> Int[np.ndarray, "B F"]:
    """Return the result of `cells` as an int8 NumPy array, without compiling."""
    signed = obs.astype(np.int8)
    return (signed[..., 0] - signed[..., 1]).reshape(len(signed), -1)


def board_number(cells: Float[Array, "B F"]) -> Int[Array, " B"]:
    """Return the number of each board, from 0 to `3**F - 1`, unique to the board.

    Each cell is a digit in base 3: 0 for the opponent's stone, 1 if free, 2 for the
    mover's stone. The last cell is the least significant digit.

    Raises:
        ValueError: the board has more than `MOST_CELLS` cells.
    """
    weights = _weights(cells.shape[1]).astype(np.float32)
    numbers = jnp.dot(cells + 1, weights, precision="highest")
    return jnp.round(numbers).astype(jnp.int32)


def board_number_on_host(cells: Int[np.ndarray, "*B F"]) -> Int[np.ndarray, "*B"]:
    """Return the result of `board_number` as an int64 NumPy array, without compiling.

    Raises:
        ValueError: the board has more than `MOST_CELLS` cells.
    """
    return (cells + 1) @ _weights(cells.shape[-1])


def _weights(num_cells: int) -> Int[np.ndarray, " F"]:
    """Return the place value of each cell in a board's number."""
    if num_cells > MOST_CELLS:
        raise ValueError(f"a board of {num_cells} cells is too large for a number")
    return 3 ** np.arange(num_cells)[::-1]


def locate(index: Int[Array, " N"], obs: Shaped[Array, "B H W 2"]) -> Int[Array, " B"]:
    """Return the positions of boards, by `position_lookup.position_index`."""
    return index[board_number(cells(obs))]
