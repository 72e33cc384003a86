"""Positions as keys, exact and without collisions.

A packed key is two 32-bit words, as JAX has 64-bit integers only if a whole process
uses them. It holds the stones of both players. Whose turn it is follows from their
number, since the players alternate and the first player begins. There are two ways to
pack a board (`GameFacts.packing`):

- By cells: two bits for each cell. It is the key of `games.stone_boards`, and the least
  key of a board's symmetric views is the key of its canonical board.
- By columns, for games whose stones fall: one bit for each stone and a 1 above them.
  7 x 6 cells have 49 bits. By cells they have 84, more than a number of 64 bits.

A game without packing has the keys of `games.state_keys`.

Axes: `B` boards, `F` cells, `G` views, `D` digits, `A` actions.
"""

import dataclasses
import functools
from typing import Any, Generic, cast

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jaxtyping import Array, Bool, Int, Shaped, UInt8, UInt32, UInt64

from jax_ttt.config.game_facts import GAMES, KEY_WORD, EnvId, GameFacts
from jax_ttt.games import line_games, pgx_games, state_keys, stone_boards
from jax_ttt.games.stone_boards import ArrayT, LeafT

Keys = UInt32[np.ndarray, "*N 2"] | UInt8[np.ndarray, "*N W"]
"""Positions on the host, as compiled programs take them; of a game without packing,
they are the bytes of `games.state_keys`."""
PositionKeys = UInt64[np.ndarray, "..."] | Shaped[np.ndarray, "..."]
"""Positions on the host, one value each: 64-bit numbers, or raw bytes."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Stones(Generic[LeafT]):
    """The stones of both players, row by row."""

    first: LeafT  # (B, F) bool
    second: LeafT  # (B, F) bool


def stones_of(env_state: pgx.State) -> Stones[jax.Array]:
    """Return the stones of states of a game of stones."""
    # PGX's states of stones have the same fields as our states; `pgx.State` does not
    # declare them.
    board = cast(line_games.State, env_state)._x.board.reshape(
        len(env_state.rewards), -1
    )
    return Stones(board == 0, board == 1)


def stones_in_view(stones: Stones, cells: Int[np.ndarray, " F"]) -> Stones:
    """Return the stones in a view; cell `i` of it is cell `cells[i]` of the board."""
    return Stones(stones.first[:, cells], stones.second[:, cells])


def pack(env_id: EnvId, stones: Stones[ArrayT]) -> UInt32[ArrayT, "B 2"]:
    """Return the keys of boards."""
    keys: Any = pack_views(env_id, stones, num_views=1)
    return keys[:, 0]


def pack_views(
    env_id: EnvId, stones: Stones[ArrayT], num_views: int | None = None
) -> UInt32[ArrayT, "B G 2"]:
    """Return the keys of the first symmetric views of each board; by default of all.

    A view has the digits of the board in another order.
    """
    game, views = GAMES[env_id], pgx_games.views_of(GAMES[env_id].symmetries)
    orders = views.cells if game.packing == "cells" else views.actions
    _, bits = game.key_digits
    return stone_boards.join_digits(_digits(game, stones), orders[:num_views], bits)


@functools.partial(jax.jit, static_argnames="env_id")
def keys_of(env_id: EnvId, env_state: pgx.State) -> UInt32[Array, "B 2"]:
    """Return the keys of states of a game of stones."""
    return pack(env_id, stones_of(env_state))


def pack_least(env_id: EnvId, stones: Stones[jax.Array]) -> UInt32[Array, "B 2"]:
    """Return the least key of each board's symmetric views.

    Packed by cells, the view with the least key is the canonical board; packed by
    columns, it may be another view. Training may start games at these keys, so another
    choice would change the agents.
    """
    keys = pack_views(env_id, stones)
    view = stone_boards.least_keys(keys).argmax(axis=1)
    return keys[jnp.arange(len(keys)), view]


def _mover_and_other(
    stones: Stones[ArrayT],
) -> tuple[Bool[ArrayT, "B F"], Bool[ArrayT, "B F"]]:
    """Return the stones of the player to move, and the stones of the other player."""
    has_stone: Any = stones.first | stones.second
    second_moves = has_stone.sum(axis=1, keepdims=True) % 2 == 1
    where = stone_boards.array_module(has_stone).where
    return (
        where(second_moves, stones.second, stones.first),
        where(second_moves, stones.first, stones.second),
    )


def _digits(game: GameFacts, stones: Stones[ArrayT]) -> UInt32[ArrayT, "B D"]:
    """Return the digit of each cell, or of each column.

    A cell's digit is 2 with a stone of the player to move, 1 if free, 0 with a stone of
    the other player. A column's digit has a bit for each stone, 1 for the first
    player's, and a 1 above the highest stone.
    """
    if game.packing == "cells":
        mine, yours = _mover_and_other(stones)
        digits: Any = 1 + mine.astype(np.uint32) - yours.astype(np.uint32)
        return digits
    weights = 1 << np.arange(game.shape[0], dtype=np.uint32)[None, ::-1, None]
    # With n stones, the 1 above them is `2**n`: 1, and 1, 2, 4, ... for the stones. So
    # a stone adds its weight once, and a first player's once more for its own bit.
    times: Any = 2 * stones.first.astype(np.uint32) + stones.second
    return 1 + (times.reshape(-1, *game.shape) * weights).sum(axis=1, dtype=np.uint32)


def unpack(env_id: EnvId, keys: UInt32[ArrayT, "B 2"]) -> Stones[ArrayT]:
    """Return the stones of the boards with these keys."""
    game = GAMES[env_id]
    num_digits, bits = game.key_digits
    place = np.arange(num_digits)
    per_word = KEY_WORD // bits
    shifts = (place % per_word * bits).astype(np.uint32)[None]
    words: Any = keys[:, place // per_word] >> shifts
    digits = words & np.uint32(2**bits - 1)
    if game.packing == "cells":
        # The swap of `_mover_and_other` is its own inverse.
        return Stones(*_mover_and_other(Stones(digits == 2, digits == 0)))
    # A bit for each stone: ones below the highest 1, which is above the highest stone.
    stones = digits >> 1
    for shift in (1, 2, 4):
        stones |= stones >> shift
    rows = np.arange(game.shape[0], dtype=np.uint32)[None, ::-1, None]
    has_stone = (stones[:, None] >> rows) & 1 == 1
    is_first = (digits[:, None] >> rows) & 1 == 1
    flat = (len(keys), -1)
    return Stones(
        first=(has_stone & is_first).reshape(flat),
        second=(has_stone & ~is_first).reshape(flat),
    )


def legal_action_mask(env_id: EnvId, stones: Stones[ArrayT]) -> Bool[ArrayT, "B A"]:
    """Return the legal moves on boards on which nobody has won."""
    game = GAMES[env_id]
    free = ~(stones.first | stones.second)
    # A column is open if its highest cell is free.
    return free if game.moves_on == "cells" else free[:, : game.shape[1]]


def observation(env_id: EnvId, stones: Stones[ArrayT]) -> Bool[ArrayT, "B H W 2"]:
    """Return what the player to move observes: its stones, and those of the other."""
    planes = _mover_and_other(stones)
    stack = stone_boards.array_module(stones.first).stack
    return stack(planes, axis=-1).reshape(-1, *GAMES[env_id].shape, 2)


def to_states(env_id: EnvId, stones: Stones[jax.Array]) -> pgx.State:
    """Return the states of boards on which nobody has won; the first player has id 0.

    They are equal to the states that PGX reaches by playing to these boards, in every
    field.
    """
    num_stones = (stones.first | stones.second).sum(axis=1, dtype=jnp.int32)
    second_moves = num_stones % 2
    board = jnp.where(stones.first, 0, jnp.where(stones.second, 1, -1))
    new_game = pgx_games.init(pgx_games.make_env(env_id), jax.random.key(0), 1)
    start = jax.tree.map(
        lambda x: jnp.broadcast_to(x, (len(board), *x.shape[1:])), new_game
    )
    # PGX's states of stones have the same fields as our states; `pgx.State` does not
    # declare them.
    start = cast(line_games.State, start)
    return dataclasses.replace(
        start,
        current_player=second_moves,
        observation=observation(env_id, stones),
        legal_action_mask=legal_action_mask(env_id, stones),
        _step_count=num_stones,
        _x=start._x._replace(color=second_moves, board=board.astype(jnp.int32)),
    )


def places_of_keys(
    ordered: UInt32[Array, "N 2"], keys: UInt32[Array, "B 2"]
) -> Int[Array, " B"]:
    """Return the place of each key among keys in ascending order of their numbers.

    It is a binary search. For a key that is missing, the result is any place.
    """
    low = jnp.zeros(len(keys), jnp.int32)
    high = jnp.full(len(keys), len(ordered), jnp.int32)
    for _ in range(len(ordered).bit_length()):
        middle = (low + high) // 2
        at = ordered[middle]
        is_less = (at[:, 1] < keys[:, 1]) | (
            (at[:, 1] == keys[:, 1]) & (at[:, 0] < keys[:, 0])
        )
        low = jnp.where(is_less, middle + 1, low)
        high = jnp.where(is_less, high, middle)
    return jnp.minimum(low, len(ordered) - 1)


def keys_to_numbers(keys: Keys) -> PositionKeys:
    """Return keys on the host, one value each: a number, low word first, or bytes.

    NumPy sorts bytes from the first one on.
    """
    is_packed = keys.dtype == np.uint32
    dtype = "<u8" if is_packed else f"V{keys.shape[-1]}"
    return np.ascontiguousarray(keys).view(dtype)[..., 0]


def numbers_of(env_id: EnvId, env_state: pgx.State) -> UInt64[np.ndarray, " B"]:
    """Return the keys of states of a game of stones as numbers."""
    return keys_to_numbers(np.asarray(keys_of(env_id, env_state)))


def numbers_to_keys(numbers: PositionKeys) -> Keys:
    """Return the keys of `keys_to_numbers`."""
    return numbers[..., None].view("u1" if numbers.dtype.kind == "V" else "<u4")


@pgx_games.cache_of_games
def first_number(env_id: EnvId) -> Shaped[np.ndarray, " 1"]:
    """Return the position before the first move, as `keys_to_numbers` does."""
    with jax.ensure_compile_time_eval():  # also while a program is traced
        if GAMES[env_id].packing is None:
            starts = state_keys.rules_of(env_id).starts
            keys = state_keys.to_keys(jax.tree.map(lambda x: x[None], starts))
            return keys_to_numbers(np.asarray(keys))
        start = pgx_games.init(pgx_games.make_env(env_id), jax.random.key(0), 1)
        return numbers_of(env_id, start)


def states_of(
    env_id: EnvId, keys: UInt32[Array, "B 2"] | UInt8[Array, "B W"]
) -> pgx.State:
    """Return the states of positions in which nobody has won; player 0 began."""
    if GAMES[env_id].packing is None:
        return state_keys.states(env_id, keys)
    return to_states(env_id, unpack(env_id, keys))
