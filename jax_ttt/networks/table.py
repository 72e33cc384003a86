"""A table as a network whose weights are its values.

Axes: `B` boards, `H W C` planes, `R` rows, `V` values of a board.
"""

import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Float

from jax_ttt.config.choices import TableKey
from jax_ttt.envs import stones
from jax_ttt.envs.stones import Positions


class Table(nnx.Module):
    """A row of values for each board, and how a board's row is found.

    `key` "position": a row for each of the game's positions, with a value for each
    action; "hash": for each board of stones, numbered in base 3; "after-state": for
    each position, with one value, that of the moves which lead to it.
    """

    def __init__(
        self,
        key: TableKey,
        positions: Positions,
        num_heads: int,
        num_actions: int,
        initial_value: float,
    ) -> None:
        self.key = key
        num_rows = len(positions.by_number if key == "hash" else positions.after)
        num_values = num_heads * (1 if key == "after-state" else num_actions)
        self.values = nnx.Param(jnp.full((num_rows, num_values), initial_value))

    def __call__(
        self, planes: Float[Array, "B H W 1"], positions: Positions
    ) -> Float[Array, "B V"]:
        """Return the values of the boards."""
        values = self.values[...]
        number = stones.number(planes.reshape(planes.shape[0], -1))
        if self.key == "hash":
            return values[number]
        position = positions.by_number[number]
        if self.key == "position":
            return values[position]
        found = values[positions.after[position]]  # (B, A, heads)
        return found.swapaxes(1, 2).reshape(len(found), -1)
