"""Games of stones in a row, behind PGX's `Env`: a number in a row wins.

PGX has Connect Four and tic-tac-toe in one size each. In `connect_WxH`, stones fall to
the lowest free cell of a column, as in Connect Four. In `mnk_MxN_K`, a move names a
cell, as in tic-tac-toe. The states have the fields of PGX's states of these two games.

Axes: `H` rows, from the top, `W` columns, `F` cells, `A` actions.
"""

import dataclasses
import functools
from typing import Any, ClassVar, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jaxtyping import Array, Bool, Int, Key

FREE_CELL = -1
"""A free cell; 0 and 1 are stones of the first and the second player."""


class Position(NamedTuple):
    """A board and whose turn it is, with the names of PGX's `GameState`."""

    color: jax.Array  # () int32: the stone that is set next, 0 or 1
    board: jax.Array  # (F,) int32, row by row: FREE_CELL, 0 or 1
    winner: jax.Array  # () int32: the stone in a row, else FREE_CELL


@jax.tree_util.register_dataclass
# PGX's dataclass is frozen too, which its type does not say.
@dataclasses.dataclass(frozen=True)  # pyright: ignore[reportGeneralTypeIssues]
class State(pgx.State):
    """A state with the fields of PGX's, and the name of its game."""

    _x: Position
    game: str = dataclasses.field(metadata={"static": True})

    @property
    def env_id(self) -> str:  # type: ignore[override]  # PGX's type lists only its own
        """The name of the game in `GAMES`."""
        return self.game


@dataclasses.dataclass(frozen=True)
class LineGame(pgx.Env):
    """A game on a board, won by the first player with `in_a_row` stones in a row.

    A row is horizontal, vertical or diagonal. A full board without a row is a draw.
    """

    # PGX's types of these are properties.
    version: ClassVar[Any] = "v0"
    num_players: ClassVar[Any] = 2

    name: str
    shape: tuple[int, int]  # (H, W)
    in_a_row: int
    falls: bool  # an action is a column, in which the stone falls

    @property
    def id(self) -> pgx.EnvId:
        """The name of the game in `GAMES`."""
        return cast(pgx.EnvId, self.name)  # PGX's type lists only its own games

    @property
    def num_cells(self) -> int:
        """The number of cells."""
        return self.shape[0] * self.shape[1]

    def _init(self, key: Key[Array, ""]) -> State:
        no_one = jnp.int32(FREE_CELL)
        board = jnp.full(self.num_cells, FREE_CELL, jnp.int32)
        num_actions = self.shape[1] if self.falls else self.num_cells
        return State(
            current_player=jnp.int32(jax.random.bernoulli(key)),
            observation=jnp.zeros((*self.shape, 2), bool),
            rewards=jnp.zeros(2, jnp.float32),
            terminated=jnp.bool_(False),
            truncated=jnp.bool_(False),
            legal_action_mask=jnp.ones(num_actions, bool),
            _step_count=jnp.int32(0),
            _x=Position(jnp.int32(0), board, no_one),
            game=self.name,
        )

    def _step(
        self, state: pgx.State, action: Int[Array, ""], key: object = None
    ) -> State:
        del key  # nothing is random
        state = cast(State, state)
        colour, board = state._x.color, state._x.board
        board = jnp.where(self._target(board, action), colour, board)
        won = self._has_row(board == colour)
        full = (board != FREE_CELL).all()
        mover = state.current_player
        gain = jnp.where(won, 1.0, 0.0).astype(jnp.float32)
        rewards = jnp.where(jnp.arange(2) == mover, gain, -gain)
        return dataclasses.replace(
            state,
            current_player=1 - mover,
            rewards=rewards,
            terminated=won | full,
            legal_action_mask=self._legal(board),
            _x=Position(1 - colour, board, jnp.where(won, colour, FREE_CELL)),
        )

    def _observe(self, state: pgx.State, player_id: Int[Array, ""]) -> Array:
        position = cast(State, state)._x
        own_colour = jnp.where(
            player_id == state.current_player, position.color, 1 - position.color
        )
        planes = [position.board == own_colour, position.board == 1 - own_colour]
        return jnp.stack(planes, axis=-1).reshape(*self.shape, 2)

    def _target(self, board: Int[Array, " F"], action: Int[Array, ""]) -> Array:
        """Return a mask of the cell that the stone of an action takes, `(F,)` bool."""
        if not self.falls:
            return jnp.arange(self.num_cells) == action
        rows, columns = self.shape
        grid = board.reshape(self.shape)
        num_stones = (grid != FREE_CELL).sum(axis=0)  # (W,)
        is_lowest_free = jnp.arange(rows)[:, None] == rows - 1 - num_stones[None]
        in_column = jnp.arange(columns) == action
        return (is_lowest_free & in_column[None]).reshape(-1)

    def _legal(self, board: Int[Array, " F"]) -> Bool[Array, " A"]:
        free = board == FREE_CELL
        return free[: self.shape[1]] if self.falls else free

    def _has_row(self, own_stones: Bool[Array, " F"]) -> Bool[Array, ""]:
        """Return whether stones are in a row.

        Each column of the board is a number whose bits are its cells. All rows in one
        direction are then found by shifts of these numbers and a bitwise "and".
        """
        rows, columns = self.shape
        weights = (1 << np.arange(rows)).astype(np.int32)[:, None]
        bits = (own_stones.reshape(self.shape) * weights).sum(axis=0)  # (W,)
        steps = range(self.in_a_row)
        vertical = functools.reduce(jnp.bitwise_and, [bits >> n for n in steps])
        starts = [vertical]  # a set bit is the first cell of a row
        num_first_columns = columns - self.in_a_row + 1
        if num_first_columns > 0:
            adjacent = [bits[n : n + num_first_columns] for n in steps]
            # Horizontal rows, then the diagonals in both directions.
            for shifts in ([0] * self.in_a_row, [*steps], [*steps][::-1]):
                shifted = [x >> n for x, n in zip(adjacent, shifts, strict=True)]
                starts.append(functools.reduce(jnp.bitwise_and, shifted))
        return jnp.concatenate(starts).any()
