"""A player's and its opponents' moves in many positions, in batches of one size.

Axes: `B` positions of a batch, `P` positions of a level.
"""

import dataclasses
from collections.abc import Callable, Iterator

import jax
import numpy as np
from jaxtyping import Array, UInt32, UInt64

from jax_ttt.config.catalogue import SEATS, EnvId, Seat
from jax_ttt.games import packing
from jax_ttt.solver import successors
from jax_ttt.solver.successors import Player, Successors

Words = UInt32[np.ndarray, "B 2"] | UInt32[Array, "B 2"]
Moves = Callable[[Words], Successors[jax.Array]]
Batches = Iterator[tuple[slice, Successors[np.ndarray]]]
"""The rows of a batch, and the moves there as NumPy arrays."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Subject:
    """A deterministic player in a seat of a game."""

    env_id: EnvId
    player: Player
    seat: Seat
    merged: bool  # symmetric boards are one position
    is_symmetric: bool = False  # the player's moves are so by construction: not checked
    sharding: jax.sharding.Sharding | None = None  # of a batch; None: one device
    batch: int  # positions in a call of the compiled programs; a multiple of 16

    def is_own(self, level: int) -> bool:
        """Return whether the player moves at a level."""
        return SEATS[level % 2] == self.seat


def expanded(
    subject: Subject,
    level: int,
    numbers: UInt64[np.ndarray, " P"],
    num_positions: int | None = None,
) -> Batches:
    """Yield the moves of who is to move at a level: the player's, or all.

    `num_positions` are those of the whole level, if only some are asked for: the same
    programs are used, which round the same.
    """
    if not subject.is_own(level):
        return all_moves(subject, numbers)

    def moves(keys: Words) -> Successors[jax.Array]:
        return successors.of_player(
            subject.env_id,
            subject.player,
            keys,
            merged=subject.merged,
            checked=not subject.is_symmetric,
        )

    return _batches(subject, numbers, moves, num_positions)


def all_moves(subject: Subject, numbers: UInt64[np.ndarray, " P"]) -> Batches:
    """Yield all moves in each position."""

    def moves(keys: Words) -> Successors[jax.Array]:
        return successors.of_all_moves(subject.env_id, keys, subject.merged)

    return _batches(subject, numbers, moves)


def _batches(
    subject: Subject,
    numbers: UInt64[np.ndarray, " P"],
    moves: Moves,
    num_positions: int | None = None,
) -> Batches:
    """Yield the moves; a batch is computed while the one before it is used.

    A small level has small batches, with programs of their own.
    """
    waiting, few = None, subject.batch // 16
    size = few if (num_positions or len(numbers)) <= 4 * few else subject.batch
    for begin in range(0, len(numbers), size):
        rows = slice(begin, min(begin + size, len(numbers)))
        # The last batch repeats its rows, so that all have one size.
        words = packing.as_words(np.resize(numbers[rows], size))
        if subject.sharding is not None:
            words = jax.device_put(words, subject.sharding)
        pair = rows, moves(words)
        if waiting is not None:
            yield _fetched(*waiting)
        waiting = pair
    if waiting is not None:
        yield _fetched(*waiting)


def _fetched(
    rows: slice, after: Successors[jax.Array]
) -> tuple[slice, Successors[np.ndarray]]:
    kept = rows.stop - rows.start
    return rows, jax.tree.map(lambda leaf: np.asarray(leaf)[:kept], after)
