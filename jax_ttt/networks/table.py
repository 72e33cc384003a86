"""A table as a network whose weights are its values.

Axes: `B` boards, `H W C` planes, `R` rows, `A` actions, `V` values per board.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Float, Int

from jax_ttt.config.choices import TableKey
from jax_ttt.envs import stones
from jax_ttt.envs.stones import Positions


def by_position(
    values: Float[Array, "R V"], number: Int[Array, " B"], positions: Positions
) -> Float[Array, "B V"]:
    """Return the rows of the boards' positions: one value per action and head."""
    return values[positions.by_number[number]]


def by_after_state(
    values: Float[Array, "R heads"], number: Int[Array, " B"], positions: Positions
) -> Float[Array, "B V"]:
    """Return for each move the value of the position that it leads to."""
    found = values[positions.after[positions.by_number[number]]]  # (B, A, heads)
    return found.swapaxes(1, 2).reshape(len(found), -1)


def by_hash(
    values: Float[Array, "R V"], number: Int[Array, " B"], positions: Positions
) -> Float[Array, "B V"]:
    """Return the rows of the boards' numbers in base 3."""
    del positions
    return values[number]


class Key(NamedTuple):
    """How a table finds a board's values, and how many rows it has."""

    values: Callable[..., jax.Array]
    row_of_each: str  # the field of `Positions` that has one entry per row
    of_after_states: bool = False  # a row has one value, not one per action


KEYS: dict[TableKey, Key] = {
    "position": Key(by_position, "after"),
    "after-state": Key(by_after_state, "after", of_after_states=True),
    "hash": Key(by_hash, "by_number"),
}


class Table(nnx.Module):
    """A table with a row of values for each board; `key` selects the lookup."""

    def __init__(
        self,
        key: TableKey,
        positions: Positions,
        num_heads: int,
        num_actions: int,
        initial_value: float,
    ) -> None:
        self.key: TableKey = key
        num_rows = len(getattr(positions, KEYS[key].row_of_each))
        num_values = num_heads * (1 if KEYS[key].of_after_states else num_actions)
        self.values = nnx.Param(jnp.full((num_rows, num_values), initial_value))

    def __call__(
        self, planes: Float[Array, "B H W 1"], positions: Positions
    ) -> Float[Array, "B V"]:
        """Return the values of the boards."""
        number = stones.number(planes.reshape(planes.shape[0], -1))
        return KEYS[self.key].values(self.values[...], number, positions)
