"""A table as a network whose weights are its values.

Axes: `B` boards, `H W C` planes, `R` rows, `A` actions, `V` values of a board, `N`
boards of stones.
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
    """Return the values of the boards' positions: a row each, a value an action."""
    return values[positions.by_number[number]]


def by_after_state(
    values: Float[Array, "R heads"], number: Int[Array, " B"], positions: Positions
) -> Float[Array, "B V"]:
    """Return the values of the positions that the boards' moves lead to."""
    found = values[positions.after[positions.by_number[number]]]  # (B, A, heads)
    return found.swapaxes(1, 2).reshape(len(found), -1)


def by_hash(
    values: Float[Array, "R V"], number: Int[Array, " B"], positions: Positions
) -> Float[Array, "B V"]:
    """Return the values of the boards' numbers in base 3."""
    del positions
    return values[number]


class Key(NamedTuple):
    """How a board's row is found, and which rows there are."""

    values: Callable[..., jax.Array]
    row_of_each: str  # the field of `Positions` with an entry for each row
    of_after_states: bool = False  # one value, where others have one for each action


KEYS: dict[TableKey, Key] = {
    "position": Key(by_position, "after"),
    "after-state": Key(by_after_state, "after", of_after_states=True),
    "hash": Key(by_hash, "by_number"),
}


class Table(nnx.Module):
    """A row of values for each board; `key` says how a board's row is found."""

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
