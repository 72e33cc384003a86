"""The moves in many positions of a search: the player's move, or all moves.

A position is its key: a number of 64 bits on the host, two words of 32 bits in compiled
programs. `games.position_keys` makes keys and states of each other; the game itself is
stepped by PGX.

Axes: `P` positions of a level, `B` positions of a batch, `A` actions, `K` moves of a
position: 1 if the player is to move, else `A`; `N` keys of a batch.
"""

import collections
import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Generic, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jaxtyping import Array, Bool, Int, Int8, Shaped, UInt32, UInt64

from jax_ttt.config.game_facts import SEATS, EnvId, Seat
from jax_ttt.games import pgx_games, position_keys
from jax_ttt.games.pgx_games import ChooseFn
from jax_ttt.games.position_keys import Stones
from jax_ttt.games.stone_boards import LeafT

ResultsT = TypeVar("ResultsT")
"""The type of a batch's results on the device."""
FetchedT = TypeVar("FetchedT")
"""The type of a batch's results on the host."""

MarkFn = Callable[[pgx.State], Bool[Array, "B A"]]
"""A function that marks moves of states."""

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
    batch: int  # positions in a call of a program; a multiple of 16, see `in_batches`
    merges_on_device: bool = False  # only different positions are sent to the host
    near_best: MarkFn | None = None  # the moves that count as played, not one alone

    def moves_at(self, level: int) -> bool:
        """Return whether the player is to move at a level."""
        return SEATS[level % 2] == self.seat


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Successors(Generic[LeafT]):
    """The moves in each position, and the positions after them, on the device."""

    keys: LeafT  # (B, K, 2) uint32
    result: LeafT  # (B, K) int8: OPEN to ILLEGAL
    action: LeafT  # (B, K) int32; (1, K) if all moves are played, in any position
    breaks_symmetry: LeafT  # (B,) bool: on an image, the player moves elsewhere


@dataclasses.dataclass(frozen=True, kw_only=True)
class Moves:
    """The moves in each position, and the positions after them, on the host.

    The position after an OPEN or DRAWN move has the key `keys[place]`. There is a key
    for each move, in the order of the moves. If the player `merges_on_device`, there is
    a key for each different position, in ascending order.
    """

    keys: UInt64[np.ndarray, " N"]
    place: Int[np.ndarray, "B K"]
    result: Int8[np.ndarray, "B K"]  # OPEN to ILLEGAL
    action: Int[np.ndarray, "_ K"]  # one row if all moves are played, in any position
    breaks_symmetry: Bool[np.ndarray, " B"]  # on an image, the player moves elsewhere

    def keys_after(self, is_chosen: Bool[np.ndarray, "B K"]) -> UInt64[np.ndarray, "_"]:
        """Return the keys after the chosen moves, in the order of `keys`."""
        is_after = np.zeros(len(self.keys), bool)
        is_after[self.place[is_chosen]] = True
        return self.keys[is_after]


Words = UInt32[np.ndarray, "B 2"] | UInt32[Array, "B 2"]
Batches = Iterator[tuple[slice, Moves]]
"""The places of a batch in its level, and the moves there."""

_IN_FLIGHT = 2
"""Batches that the device computes while the host uses one."""
_NUM_PARTS = 16
"""Parts of the merged keys of a batch; the host gets only those that it needs."""


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
        if player.near_best is not None:
            return after_marked_moves(
                player.env_id, player.near_best, words, player.merge_symmetric
            )
        return after_player_move(
            player.env_id,
            player.choose,
            words,
            merge_symmetric=player.merge_symmetric,
            is_checked=player.merge_symmetric and not player.is_symmetric,
        )

    return _moves_in_batches(player, moves, keys, level_size=level_size)


def expand_all_moves(player: SearchedPlayer, keys: UInt64[np.ndarray, " P"]) -> Batches:
    """Yield all moves in each position."""

    def moves(words: Words) -> Successors[jax.Array]:
        return after_all_moves(player.env_id, words, player.merge_symmetric)

    return _moves_in_batches(player, moves, keys)


def expand_given_moves(
    player: SearchedPlayer,
    keys: UInt64[np.ndarray, " P"],
    actions: Int[np.ndarray, " P"],
) -> Batches:
    """Yield one given move in each position."""
    moves = functools.partial(
        after_moves, player.env_id, merge_symmetric=player.merge_symmetric
    )
    return _moves_in_batches(player, moves, keys, actions)


def _moves_in_batches(
    player: SearchedPlayer,
    moves: Callable[..., Successors[jax.Array]],
    keys: UInt64[np.ndarray, " P"],
    *columns: Shaped[np.ndarray, "P ..."],
    level_size: int | None = None,
) -> Batches:
    """Yield the moves that a program returns; the arguments are as in `in_batches`."""

    def compute(*rows: object) -> tuple[Successors[jax.Array], MergedKeys | None]:
        after = moves(*rows)
        return after, merge_keys(after) if player.merges_on_device else None

    return in_batches(
        player, compute, keys, *columns, fetch=fetch_moves, level_size=level_size
    )


class MergedKeys(NamedTuple):
    """The different keys after the moves of a batch, in ascending order."""

    parts: list[jax.Array]  # (_, 2) uint32 keys; as many as moves, see `merge_keys`
    place: jax.Array  # (B, K) int32 of the key after each move


@jax.jit
def merge_keys(after: Successors[jax.Array]) -> MergedKeys:
    """Return the different keys after the moves that are OPEN or DRAWN.

    A compiled program has results of one size, so the different keys are followed by
    others up to the number of moves. In parts, the host need not get those.
    """
    has_position = (after.result == OPEN) | (after.result == DRAWN)
    # All other moves have the key 0, which no result depends on.
    words = jnp.where(has_position[..., None], after.keys, 0).reshape(-1, 2)
    # Rows are sorted by their first word, so the high one comes first.
    different, place = jnp.unique(
        words[:, ::-1], axis=0, return_inverse=True, size=len(words)
    )
    part = -(-len(words) // _NUM_PARTS)
    return MergedKeys(
        parts=[
            different[begin : begin + part, ::-1]
            for begin in range(0, len(words), part)
        ],
        place=place.reshape(after.result.shape),
    )


def fetch_moves(
    results: tuple[Successors[jax.Array], MergedKeys | None], size: int
) -> Moves:
    """Wait for the moves of a batch, and return those of the first positions."""
    after, merged = results
    if merged is None:
        words = np.asarray(after.keys)[:size].reshape(-1, 2)
        place = np.arange(len(words)).reshape(size, -1)
    else:
        place = np.asarray(merged.place)[:size]
        num_keys = int(place.max()) + 1
        num_parts = -(-num_keys // len(merged.parts[0]))
        words = np.concatenate(jax.device_get(merged.parts[:num_parts]))[:num_keys]
    return Moves(
        keys=position_keys.keys_to_numbers(words),
        place=place,
        result=np.asarray(after.result)[:size],
        action=np.asarray(after.action)[:size],
        breaks_symmetry=np.asarray(after.breaks_symmetry)[:size],
    )


def fetch_rows(rows: Shaped[Array, "B ..."], size: int) -> Shaped[np.ndarray, "_ ..."]:
    """Wait for the rows of a batch, and return those of the first positions."""
    return np.asarray(rows)[:size]


def in_batches(
    player: SearchedPlayer,
    compute: Callable[..., ResultsT],
    keys: UInt64[np.ndarray, " P"],
    *columns: Shaped[np.ndarray, "P ..."],
    fetch: Callable[[ResultsT, int], FetchedT],
    level_size: int | None = None,
) -> Iterator[tuple[slice, FetchedT]]:
    """Yield the places of a batch, and what is computed there, on the host.

    `compute` takes the batch's keys as words, and its rows of the other columns, and
    returns arrays on the device. `fetch` takes them and the number of the batch's
    positions, which come first, and returns these positions' results on the host. The
    next two batches are computed while one is used. `level_size` is as in
    `expand_level`.

    A program is compiled for one size of a batch. There are two sizes: a small level
    would waste most of a whole batch, so it is computed in sixteenths. That is why a
    batch is a multiple of 16.
    """
    sixteenth = player.batch // 16
    is_small = (level_size or len(keys)) <= 4 * sixteenth
    size = sixteenth if is_small else player.batch
    in_flight: collections.deque[tuple[slice, ResultsT]] = collections.deque()
    for begin in range(0, len(keys), size):
        places = slice(begin, min(begin + size, len(keys)))
        # The last batch repeats its positions up to the size.
        repeated = np.arange(size) % (places.stop - begin) + begin
        rows = [position_keys.numbers_to_keys(keys[repeated])]
        rows += [column[repeated] for column in columns]
        if player.sharding is not None:
            rows = jax.device_put(rows, player.sharding)
        # JAX returns before the results are computed.
        in_flight.append((places, compute(*rows)))
        if len(in_flight) > _IN_FLIGHT:
            places, results = in_flight.popleft()
            yield places, fetch(results, places.stop - places.start)
    while in_flight:
        places, results = in_flight.popleft()
        yield places, fetch(results, places.stop - places.start)


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
    after = _after_moves(env_id, stones, action, merge_symmetric)
    return dataclasses.replace(after, action=actions[None])


@functools.partial(jax.jit, static_argnames=("env_id", "merge_symmetric"))
def after_marked_moves(
    env_id: EnvId, mark: MarkFn, words: UInt32[Array, "B 2"], merge_symmetric: bool
) -> Successors[jax.Array]:
    """Return the marked moves in each position; the others are ILLEGAL."""
    after = after_all_moves(env_id, words, merge_symmetric)
    stones = position_keys.unpack(env_id, words)
    is_marked = mark(position_keys.to_states(env_id, stones))
    result = jnp.where(is_marked, after.result, ILLEGAL).astype(jnp.int8)
    return dataclasses.replace(after, result=result)


@functools.partial(jax.jit, static_argnames=("env_id", "merge_symmetric"))
def after_moves(
    env_id: EnvId,
    words: UInt32[Array, "B 2"],
    action: Int[Array, " B"],
    merge_symmetric: bool,
) -> Successors[jax.Array]:
    """Return one given move in each position; `merge_symmetric` as above."""
    stones = position_keys.unpack(env_id, words)
    actions = action.astype(jnp.int32)[:, None]
    return _after_moves(env_id, stones, actions, merge_symmetric)


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
        env_id, jax.tree.map(lambda x: jnp.repeat(x, num_moves, 0), stones)
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
