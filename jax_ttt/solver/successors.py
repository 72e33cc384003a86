"""The positions after one move, as keys: after a player's move, or after every move.

It steps the game itself; what a key means is known to `games.packing` alone.

Axes: `B` positions, `A` actions, `K` moves: 1 if the player moves, else A, `G` views.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Generic

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, UInt32, UInt64

from jax_ttt.config.game_facts import SEATS, EnvId, Seat
from jax_ttt.games import packing, pgx_games
from jax_ttt.games.packing import Stones
from jax_ttt.games.pgx_games import ChooseFn
from jax_ttt.games.symmetry import LeafT

OPEN, DRAWN, WON, LOST, ILLEGAL = range(5)
"""What a move leads to: the game goes on, or its end for the player who moves."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Successors(Generic[LeafT]):
    """The moves in each position, and the positions after them."""

    keys: LeafT  # (B, K, 2) uint32
    result: LeafT  # (B, K) int8: OPEN to ILLEGAL
    action: LeafT  # (B, K) int32
    differs: LeafT  # (B,) bool: in a view, the move leads to another position


@functools.partial(jax.jit, static_argnames=("env_id", "merged", "checked"))
def after_player_move(
    env_id: EnvId,
    player: ChooseFn,
    keys: UInt32[Array, "B 2"],
    merged: bool,
    checked: bool = True,
) -> Successors[jax.Array]:
    """Return the move of a player who is to move in all positions.

    With `merged`, the keys are the least of all symmetric views. If `checked` too,
    `differs` says where the player's move in another view leads to another position.
    """
    stones = packing.unpack(env_id, keys)
    action = _move(env_id, player, stones)
    moves = _after(env_id, stones, action[:, None], merged)
    differs = jnp.zeros(len(keys), bool)
    views = list(zip(*packing.all_views(env_id), strict=True))
    for cells, actions in views[1:] if merged and checked else ():
        seen = packing.seen(stones, cells)
        there = jnp.asarray(actions)[_move(env_id, player, seen)]
        after = _after(env_id, stones, there[:, None], merged)
        same = (after.keys == moves.keys).all(axis=(1, 2))
        differs |= ~same | (after.result != moves.result)[:, 0]
    return dataclasses.replace(moves, differs=differs)


@functools.partial(jax.jit, static_argnames=("env_id", "merged"))
def after_all_moves(
    env_id: EnvId, keys: UInt32[Array, "B 2"], merged: bool
) -> Successors[jax.Array]:
    """Return every move in each position; `merged` is that of `after_player_move`."""
    stones = packing.unpack(env_id, keys)
    actions = jnp.arange(pgx_games.sizes(env_id).num_actions)
    action = jnp.broadcast_to(actions, (len(keys), len(actions)))
    return _after(env_id, stones, action, merged)


def _move(env_id: EnvId, player: ChooseFn, stones: Stones) -> Int[Array, " B"]:
    state = packing.to_states(env_id, stones)
    # The player is deterministic, so any key will do.
    return player(jax.random.key(0), state).astype(jnp.int32)


def _after(
    env_id: EnvId,
    stones: Stones,
    action: Int[Array, "B K"],
    merged: bool,
) -> Successors[jax.Array]:
    moves = action.shape[1]
    before = packing.to_states(
        env_id, Stones(*(jnp.repeat(x, moves, 0) for x in stones))
    )
    chosen = action.reshape(-1)
    after, move = pgx_games.step(pgx_games.make_env(env_id), before, chosen, 1.0)
    ended = jnp.where(move.reward > 0, WON, jnp.where(move.reward < 0, LOST, DRAWN))
    result = jnp.where(pgx_games.finished(after), ended, OPEN)
    allowed = jnp.take_along_axis(before.legal_action_mask, chosen[:, None], axis=1)
    inside = (chosen >= 0) & (chosen < before.legal_action_mask.shape[1])
    result = jnp.where(allowed[:, 0] & inside, result, ILLEGAL).astype(jnp.int8)
    found = packing.stones_of(after)
    pack = packing.pack_least if merged else packing.pack
    keys = pack(env_id, found)
    shape = action.shape
    differs = jnp.zeros(len(stones.first), bool)
    return Successors(keys.reshape(*shape, 2), result.reshape(shape), action, differs)


Words = UInt32[np.ndarray, "B 2"] | UInt32[Array, "B 2"]
MovesFn = Callable[[Words], Successors[jax.Array]]
Batches = Iterator[tuple[slice, Successors[np.ndarray]]]
"""The rows of a batch, and the moves there as NumPy arrays."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SearchedPlayer:
    """A deterministic player in a seat of a game."""

    env_id: EnvId
    player: ChooseFn
    seat: Seat
    merged: bool  # symmetric boards are one position
    is_symmetric: bool = False  # the player's moves are so by construction: not checked
    sharding: jax.sharding.Sharding | None = None  # of a batch; None: one device
    batch: int  # positions in a call of the compiled programs; a multiple of 16

    def is_own(self, level: int) -> bool:
        """Return whether the player moves at a level."""
        return SEATS[level % 2] == self.seat


def expand(
    subject: SearchedPlayer,
    level: int,
    numbers: UInt64[np.ndarray, " P"],
    num_positions: int | None = None,
) -> Batches:
    """Yield the moves of who is to move at a level: the player's, or all.

    `num_positions` are those of the whole level, if only some are asked for: the same
    programs are used, which round the same.
    """
    if not subject.is_own(level):
        return expand_all_moves(subject, numbers)

    def moves(keys: Words) -> Successors[jax.Array]:
        return after_player_move(
            subject.env_id,
            subject.player,
            keys,
            merged=subject.merged,
            checked=not subject.is_symmetric,
        )

    return _batches(subject, numbers, moves, num_positions)


def expand_all_moves(
    subject: SearchedPlayer, numbers: UInt64[np.ndarray, " P"]
) -> Batches:
    """Yield all moves in each position."""

    def moves(keys: Words) -> Successors[jax.Array]:
        return after_all_moves(subject.env_id, keys, subject.merged)

    return _batches(subject, numbers, moves)


def _batches(
    subject: SearchedPlayer,
    numbers: UInt64[np.ndarray, " P"],
    moves: MovesFn,
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
        words = packing.numbers_to_keys(np.resize(numbers[rows], size))
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
