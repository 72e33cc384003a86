"""A table as a network whose weights are its values.

Axes: `B` boards, `H W` rows and columns, `R` rows of the table, `A` actions, `V` values
of a board.
"""

import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Float, Shaped

from jax_ttt.config.settings import TableKey
from jax_ttt.games import stones
from jax_ttt.games.stones import Positions


class Table(nnx.Module):
    """A table of values, with these rows by `key`.

    - `position`: a row for each position, with a value for each action and head.
    - `after-state`: a row for each position, with a value for each head: that of each
      action that leads to the position.
    - `hash`: a row for each board number, legal or not, as for `position`.
    """

    def __init__(
        self,
        key: TableKey,
        positions: Positions,
        num_heads: int,
        num_actions: int,
        initial_value: float,
    ) -> None:
        self.key: TableKey = key
        num_rows = len(positions.by_number if key == "hash" else positions.after)
        num_values = num_heads * (1 if key == "after-state" else num_actions)
        self.values = nnx.Param(jnp.full((num_rows, num_values), initial_value))

    def __call__(
        self, obs: Shaped[Array, "B H W 2"], positions: Positions
    ) -> Float[Array, "B V"]:
        """Return the values of the boards, those of all actions head by head."""
        values = self.values[...]
        number = stones.number(stones.cells(obs))
        if self.key == "hash":
            return values[number]
        position = positions.by_number[number]
        if self.key == "position":
            return values[position]
        after = values[positions.after[position]]  # (B, A, heads)
        return after.swapaxes(1, 2).reshape(len(after), -1)
