"""A table as a network whose weights are its values.

Axes: `B` boards, `H W` rows and columns, `R` rows of the table, `A` actions, `V` values
of a board.
"""

import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Float, Shaped

from jax_ttt.config.settings import TableKey
from jax_ttt.games import stone_boards
from jax_ttt.games.stone_boards import Positions


class Table(nnx.Module):
    """A table of values. What a row is for depends on `key`.

    - `position`: each row is for a position, with a value for each action and head.
    - `after-state`: each row is for a position, with one value for each head: the value
      of every action that leads to this position.
    - `hash`: like `position`, but there is a row for each board number, whether a game
      reaches that board or not.
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
        """Return the values of all actions by head 1, then by head 2."""
        values = self.values[...]
        number = stone_boards.board_number(stone_boards.cells(obs))
        if self.key == "hash":
            return values[number]
        position = positions.by_number[number]
        if self.key == "position":
            return values[position]
        after_values = values[positions.after[position]]  # (B, A, heads)
        return after_values.swapaxes(1, 2).reshape(len(after_values), -1)
