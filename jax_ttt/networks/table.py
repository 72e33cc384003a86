"""A table as a network whose weights are its values.

Axes: `B` boards, `P` positions, `A` actions, `V` values of a board.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jaxtyping import Array, Float, Shaped

from jax_ttt.config.settings import Architecture, TableKey
from jax_ttt.games import tree as trees
from jax_ttt.games.board_index import PositionIndex


class Positions(NamedTuple):
    """Indices of boards among the positions of an enumerated game."""

    of_board: PositionIndex[jax.Array]
    after: jax.Array  # (P, A) int32 position after each move, 0 where illegal


def positions_for(architecture: Architecture) -> Positions | None:
    """Return the indices by which a table finds a board's values; None for an MLP.

    With canonical boards, the position after a move is the first one with the same
    canonical board, so that symmetric positions share one index.

    The first call for a table enumerates its game, so call it outside a trace.
    """
    if not architecture.is_table:
        return None
    tree = trees.enumerated(architecture.env_id)
    index = trees.position_index(architecture.env_id)
    # A table sees boards only, so equal ones after more moves share a row too.
    after = np.asarray(index.of_boards(tree.obs), np.int32)[tree.successor]
    if architecture.canonical:
        after = tree.representative[after]
    return Positions(*jax.device_put((index, after)))


class Table(nnx.Module):
    """A table of values. What a row is for depends on `key`.

    - `position`: each row is for a position, with a value for each action and head.
    - `after-state`: each row is for a position, with one value for each head: the value
      of every action that leads to this position.
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
        num_rows = len(positions.after)
        num_values = num_heads * (1 if key == "after-state" else num_actions)
        # Without a dtype, the values would have a weak one, and lose it in the first
        # chunk: its program would be compiled twice.
        values = jnp.full(
            shape=(num_rows, num_values), fill_value=initial_value, dtype=jnp.float32
        )
        self.values = nnx.Param(values)

    def __call__(
        self, obs: Shaped[Array, "B *shape"], positions: Positions
    ) -> Float[Array, "B V"]:
        """Return the values of all actions by head 1, then by head 2."""
        values = self.values[...]
        position = positions.of_board.of_boards(obs)
        if self.key == "position":
            return values[position]
        after_values = values[positions.after[position]]  # (B, A, heads)
        return after_values.swapaxes(1, 2).reshape(len(after_values), -1)
