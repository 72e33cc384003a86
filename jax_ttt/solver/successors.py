"""The moves in many positions of a search: the player's move, or all moves.

A position is its key: a number of 64 bits on the host, two words of 32 bits in compiled
programs. `games.position_keys` makes keys and states of each other; the game itself is
stepped by PGX.

Axes: `P` positions of a level, `B` positions of a batch, `A` actions, `K` moves of a
position: 1 if the player is to move, else `A`.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Generic, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, UInt32, UInt64

from jax_ttt.config.game_facts import SEATS, EnvId, Seat
from jax_ttt.games import pgx_games, position_keys
from jax_ttt.games.pgx_games import ChooseFn
from jax_ttt.games.position_keys import Stones
from jax_ttt.games.symmetry import LeafT

OPEN, DRAWN, WON, LOST, ILLEGAL = range(5)
"""What a move leads to: the game goes on, or its result for the player who moves."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SearchedPlayer:
    """A deterministic player in a seat, and how the positions there are computed."""

    env_id: EnvId
    choose: ChooseFn
    seat: Seat
    merge_symmetric: bool  # a board and its images are one position
    is_symmetric: bool = False  # by construction, so its moves on images aren't checked
    sharding: jax.sharding.Sharding | None = None  # of a batch; None: one device
    batch: int  # positions in a call of a program; a multiple of 16, see `_batches`

    def moves_at(self, level: int) -> bool:
        """Return whether the player is to move at a level."""
        return SEATS[level % 2] == self.seat


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Successors(Generic[LeafT]):
    """The moves in each position, and the positions after them."""

    keys: LeafT  # (B, K, 2) uint32
    result: LeafT  # (B, K) int8: OPEN to ILLEGAL
    action: LeafT  # (B, K) int32
    breaks_symmetry: LeafT  # (B,) bool: on an image, the player moves elsewhere


Words = UInt32[np.ndarray, "B 2"] | UInt32[Array, "B 2"]
MovesFn = Callable[[Words], Successors[jax.Array]]
Batches = Iterator[tuple[slice, Successors[np.ndarray]]]
"""The places of a batch in its level, and the moves there as NumPy arrays."""


def expand_level(
    player: SearchedPlayer,
    level: int,
    keys: UInt64[np.ndarray, " P"],
    level_size: int | None = None,
) -> Batches:
    """Yield the moves at a level: the player's where it is to move, else all moves.

    `level_size` is the number of the level's positions where `keys` are only some of
    them: the player's moves are then computed by the programs of the whole level, with
    the same rounding, so they are the same moves.
    """
    if not player.moves_at(level):
        return expand_all_moves(player, keys)

    def moves(words: Words) -> Successors[jax.Array]:
        return after_player_move(
            player.env_id,
            player.choose,
            words,
            merge_symmetric=player.merge_symmetric,
            is_checked=player.merge_symmetric and not player.is_symmetric,
        )

    return _batches(player, keys, moves, level_size)


def expand_all_moves(player: SearchedPlayer, keys: UInt64[np.ndarray, " P"]) -> Batches:
    """Yield all moves in each position."""

    def moves(words: Words) -> Successors[jax.Array]:
        return after_all_moves(player.env_id, words, player.merge_symmetric)

    return _batches(player, keys, moves)


def _batches(
    player: SearchedPlayer,
    keys: UInt64[np.ndarray, " P"],
    moves: MovesFn,
    level_size: int | None = None,
) -> Batches:
    """Yield the moves batch by batch; the next one is computed while one is used.

    A program is compiled for one size of a batch. There are two sizes: a small level
    would waste most of a whole batch, so it is computed in sixteenths. That is why a
    batch is a multiple of 16.
    """
    sixteenth = player.batch // 16
    is_small = (level_size or len(keys)) <= 4 * sixteenth
    size = sixteenth if is_small else player.batch
    computing = None
    for begin in range(0, len(keys), size):
        places = slice(begin, min(begin + size, len(keys)))
        # The last batch repeats its positions up to the size.
        words = position_keys.numbers_to_keys(np.resize(keys[places], size))
        if player.sharding is not None:
            words = jax.device_put(words, player.sharding)
        # JAX returns before the moves are computed.
        after = moves(words)
        if computing is not None:
            yield _fetch(computing)
        computing = _Batch(places, after)
    if computing is not None:
        yield _fetch(computing)


class _Batch(NamedTuple):
    """A batch that the device computes."""

    places: slice  # of its positions in the level
    after: Successors[jax.Array]


def _fetch(batch: _Batch) -> tuple[slice, Successors[np.ndarray]]:
    """Wait for a batch, and return its moves, without the repeated positions."""
    size = batch.places.stop - batch.places.start
    moves = jax.tree.map(lambda leaf: np.asarray(leaf)[:size], batch.after)
    return batch.places, moves


@functools.partial(jax.jit, static_argnames=("env_id", "merge_symmetric", "is_checked"))
def after_player_move(
    env_id: EnvId,
    player: ChooseFn,
    words: UInt32[Array, "B 2"],
    merge_symmetric: bool,
    is_checked: bool,
) -> Successors[jax.Array]:
    """Return the player's move in positions where it is to move.

    With `merge_symmetric`, the key of a board is the least key of its images. That is
    right only if the player moves alike on all of them: with `is_checked` it moves on
    each image, and `breaks_symmetry` is true where that leads to another position.
    """
    stones = position_keys.unpack(env_id, words)
    action = _chosen_moves(env_id, player, stones)
    moves = _after_moves(env_id, stones, action[:, None], merge_symmetric)
    breaks_symmetry = jnp.zeros(len(words), bool)
    views = list(zip(*position_keys.all_views(env_id), strict=True))
    for cells, actions in views[1:] if is_checked else ():
        image = position_keys.stones_in_view(stones, cells)
        # The move on the image, as a move on the board itself.
        there = jnp.asarray(actions)[_chosen_moves(env_id, player, image)]
        after = _after_moves(env_id, stones, there[:, None], merge_symmetric)
        same = (after.keys == moves.keys).all(axis=(1, 2))
        breaks_symmetry |= ~same | (after.result != moves.result)[:, 0]
    return dataclasses.replace(moves, breaks_symmetry=breaks_symmetry)


@functools.partial(jax.jit, static_argnames=("env_id", "merge_symmetric"))
def after_all_moves(
    env_id: EnvId, words: UInt32[Array, "B 2"], merge_symmetric: bool
) -> Successors[jax.Array]:
    """Return every move in each position; `merge_symmetric` as above."""
    stones = position_keys.unpack(env_id, words)
    actions = jnp.arange(pgx_games.sizes(env_id).num_actions)
    action = jnp.broadcast_to(actions, (len(words), len(actions)))
    return _after_moves(env_id, stones, action, merge_symmetric)


def _chosen_moves(env_id: EnvId, player: ChooseFn, stones: Stones) -> Int[Array, " B"]:
    env_state = position_keys.to_states(env_id, stones)
    # The player is deterministic, so any key will do.
    return player(jax.random.key(0), env_state).astype(jnp.int32)


def _after_moves(
    env_id: EnvId,
    stones: Stones,
    action: Int[Array, "B K"],
    merge_symmetric: bool,
) -> Successors[jax.Array]:
    """Play each action in its position."""
    num_moves = action.shape[1]
    before = position_keys.to_states(
        env_id, Stones(*(jnp.repeat(x, num_moves, 0) for x in stones))
    )
    chosen = action.reshape(-1)
    after, move = pgx_games.step(pgx_games.make_env(env_id), before, chosen, 1.0)
    ended = jnp.where(move.reward > 0, WON, jnp.where(move.reward < 0, LOST, DRAWN))
    result = jnp.where(pgx_games.is_finished(after), ended, OPEN)
    # A user's player may return any number.
    allowed = jnp.take_along_axis(before.legal_action_mask, chosen[:, None], axis=1)
    inside = (chosen >= 0) & (chosen < before.legal_action_mask.shape[1])
    result = jnp.where(allowed[:, 0] & inside, result, ILLEGAL).astype(jnp.int8)
    pack = position_keys.pack_least if merge_symmetric else position_keys.pack
    return Successors(
        keys=pack(env_id, position_keys.stones_of(after)).reshape(*action.shape, 2),
        result=result.reshape(action.shape),
        action=action,
        breaks_symmetry=jnp.zeros(len(action), bool),
    )
