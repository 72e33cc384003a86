"""The moves in many positions of a search, computed in batches of one size.

A position is its key: on the host, a number of 64 bits or, in games without such
numbers, all bytes of its states; in compiled programs, words or bytes.

Axes: `P` positions of a level, `B` positions of a batch, `A` actions, `N` moves of a
batch.
"""

import collections
import dataclasses
from collections.abc import Callable, Iterator
from typing import TypeVar

import jax
import numpy as np
import pgx
from jaxtyping import Array, Bool, Int, Int8, Shaped

from jax_ttt.config.game_facts import SEATS, EnvId, Seat
from jax_ttt.games import position_keys
from jax_ttt.games.pgx_games import ChooseFn
from jax_ttt.games.position_keys import PositionKeys
from jax_ttt.solver.asked_moves import AskedMoves

ItemT = TypeVar("ItemT")

MarkFn = Callable[[pgx.State], Bool[Array, "B A"]]
"""A function that marks moves of states."""


class IllegalMoveError(ValueError):
    """The player plays a move that is not legal, or one by the number of a player."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SearchedPlayer:
    """A deterministic player in a seat, and how the positions there are computed."""

    env_id: EnvId
    choose: ChooseFn
    seat: Seat
    merge_symmetric: bool  # a board and its images are one position
    is_symmetric: bool = False  # by construction, so its moves on images aren't checked
    sharding: jax.sharding.Sharding | None = None  # of a batch; None: one device
    batch: int  # positions in a call of a program; a multiple of 16, see `calls`
    may_play: MarkFn | None = None  # the moves that count as played, not one alone
    sees_state: bool = True  # more than the observation and the legal moves
    asked: AskedMoves | None = None  # whose moves these are, in place of `choose`

    @property
    def number(self) -> np.int32:
        """Its number, 0 or 1, where player 0 begins; programs take it as data."""
        return np.int32(SEATS.index(self.seat))

    def moves_at(self, level: int) -> bool:
        """Return whether the player is to move at a level, where players alternate."""
        return SEATS[level % 2] == self.seat


@dataclasses.dataclass(frozen=True, kw_only=True)
class Moves:
    """The moves that are played in a batch, on the host; position by position."""

    row: Int[np.ndarray, " N"]  # of the position in the batch
    action: Int[np.ndarray, " N"]
    result: Int8[np.ndarray, " N"]  # to the searched player, see `games.state_keys`
    keys: PositionKeys  # (N,): of the positions after the moves
    breaks_symmetry: bool = False  # on some image, the player moves elsewhere


def fetch(results: ItemT, places: slice) -> ItemT:
    """Wait for the arrays of a batch, and return the rows of its places on the host."""
    size = places.stop - places.start
    return jax.tree.map(lambda rows: np.asarray(rows)[:size], results)


def calls(
    player: SearchedPlayer,
    compute: Callable[..., ItemT],
    keys: PositionKeys,
    *columns: Shaped[np.ndarray, "P ..."],
    level_size: int | None = None,
) -> Iterator[tuple[slice, ItemT]]:
    """Yield the places of a batch, and what the device computes for it.

    `compute` takes the batch's keys as words, and its rows of the other columns. JAX
    returns before the results are computed. `level_size` is as in `expand_level`.

    A program is compiled for one size of a batch. There are two sizes: a small level
    would waste most of a whole batch, so it is computed in sixteenths. That is why a
    batch is a multiple of 16.
    """
    sixteenth = player.batch // 16
    is_small = (level_size or len(keys)) <= 4 * sixteenth
    size = sixteenth if is_small else player.batch
    for begin in range(0, len(keys), size):
        places = slice(begin, min(begin + size, len(keys)))
        # The last batch repeats its positions up to the size.
        repeated = np.arange(size) % (places.stop - begin) + begin
        rows = [position_keys.numbers_to_keys(keys[repeated])]
        rows += [column[repeated] for column in columns]
        if player.sharding is not None:
            rows = jax.device_put(rows, player.sharding)
        yield places, compute(*rows)


def in_batches(
    player: SearchedPlayer,
    compute: Callable[..., ItemT],
    keys: PositionKeys,
    level_size: int | None = None,
) -> Iterator[tuple[slice, ItemT]]:
    """Yield the places of a batch, and the results of `calls` on the host.

    The next two batches are computed while one is used.
    """
    started = calls(player, compute, keys, level_size=level_size)
    for places, results in ahead(started, num=2):
        yield places, fetch(results, places)


def ahead(items: Iterator[ItemT], num: int) -> Iterator[ItemT]:
    """Yield each item when the next `num` are made."""
    waiting: collections.deque[ItemT] = collections.deque()
    for item in items:
        waiting.append(item)
        if len(waiting) > num:
            yield waiting.popleft()
    yield from waiting
