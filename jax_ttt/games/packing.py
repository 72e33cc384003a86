"""Positions as keys: exact, without collisions, of at most 64 bits.

A key is a row of two 32-bit words. It holds the stones of both players, and these say
whose turn it is, since the players alternate and the first player moves first. Packed
by cells, it is the key of `games.canonical`.

Axes: `B` boards, `F` cells, `G` views, `D` digits, `A` actions.
"""

import dataclasses
import functools
from typing import NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jaxtyping import Array, Bool, Int, UInt32, UInt64

from jax_ttt.config.game_facts import GAMES, EnvId, GameFacts
from jax_ttt.games import line_games, pgx_games, symmetry

_WORD = 32


class Stones(NamedTuple):
    """The stones of both players, row by row."""

    first: jax.Array  # (B, F) bool
    second: jax.Array  # (B, F) bool


def _digit_bits(game: GameFacts) -> tuple[int, int]:
    """Return the number of digits of a key, and the bits of each."""
    rows, columns = game.shape
    return (rows * columns, 2) if game.packing == "cells" else (columns, rows + 1)


def check_packed(env_id: EnvId) -> None:
    """Raise `ValueError` unless the game's positions have keys."""
    game = GAMES[env_id]
    num_digits, bits = _digit_bits(game)
    words = -(-num_digits // (_WORD // bits))
    if game.packing is None or not game.stones or words > 2:
        raise ValueError(f"positions of {env_id} have no keys of 64 bits")


def stones_of(env_state: pgx.State) -> Stones:
    """Return the stones of states of a game of stones."""
    # PGX's states of stones have the fields of ours, which `pgx.State` does not say.
    board = cast(line_games.State, env_state)._x.board.reshape(
        len(env_state.rewards), -1
    )
    return Stones(board == 0, board == 1)


def seen(stones: Stones, cells: Int[np.ndarray, " F"]) -> Stones:
    """Return the stones in a view, whose cell `i` is cell `cells[i]` of the board."""
    return Stones(stones.first[:, cells], stones.second[:, cells])


def pack(env_id: EnvId, stones: Stones) -> UInt32[Array, "B 2"]:
    """Return the keys of boards."""
    game = GAMES[env_id]
    return _joined(game, _digits(game, stones))


@functools.partial(jax.jit, static_argnames="env_id")
def keys_of(env_id: EnvId, env_state: pgx.State) -> UInt32[Array, "B 2"]:
    """Return the keys of states of a game of stones."""
    return pack(env_id, stones_of(env_state))


def pack_least(env_id: EnvId, stones: Stones) -> UInt32[Array, "B 2"]:
    """Return the least key of each board's symmetric views.

    A view has the digits of the board in another order. Packed by cells, the view is
    the canonical board. Packed by columns, it may be another one; training starts at
    these keys, so they decide what a run learns.
    """
    game, views = GAMES[env_id], all_views(env_id)
    digits = _digits(game, stones)
    orders = views.cells if game.packing == "cells" else views.actions
    least, *others = (_joined(game, digits[:, order]) for order in orders)
    for keys in others:
        high, low = keys[:, 1] < least[:, 1], keys[:, 0] < least[:, 0]
        less = high | ((keys[:, 1] == least[:, 1]) & low)
        least = jnp.where(less[:, None], keys, least)
    return least


def _joined(game: GameFacts, digits: UInt32[Array, "B D"]) -> UInt32[Array, "B 2"]:
    """Return the keys with these digits."""
    num_digits, bits = _digit_bits(game)
    place = np.arange(num_digits)
    per_word = _WORD // bits
    moved = digits << jnp.uint32(place % per_word * bits)[None]
    words = [moved[:, place // per_word == word] for word in (0, 1)]
    return jnp.stack([word.sum(axis=1, dtype=jnp.uint32) for word in words], axis=1)


def _to_mover(stones: Stones) -> tuple[Bool[Array, "B F"], Bool[Array, "B F"]]:
    """Return the stones of the player to move, and the other's."""
    second_moves = (stones.first | stones.second).sum(axis=1, keepdims=True) % 2 == 1
    return (
        jnp.where(second_moves, stones.second, stones.first),
        jnp.where(second_moves, stones.first, stones.second),
    )


def _digits(game: GameFacts, stones: Stones) -> UInt32[Array, "B D"]:
    """Return for each cell its digit; or for each column its stones and a 1 above.

    The digits of cells are those of `games.canonical`. The stones of a column are bits:
    1 for the first player's.
    """
    if game.packing == "cells":
        mine, yours = _to_mover(stones)
        return 1 + mine.astype(jnp.uint32) - yours.astype(jnp.uint32)
    weights = jnp.uint32(1 << np.arange(game.shape[0])[::-1])[None, :, None]
    # The 1 above the stones is 1 more than the sum of the bits below it.
    worth = 2 * stones.first.astype(jnp.uint32) + stones.second
    return 1 + (worth.reshape(-1, *game.shape) * weights).sum(axis=1, dtype=jnp.uint32)


def unpack(env_id: EnvId, keys: UInt32[Array, "B 2"]) -> Stones:
    """Return the stones of the boards with these keys."""
    game = GAMES[env_id]
    num_digits, bits = _digit_bits(game)
    place = np.arange(num_digits)
    per_word = _WORD // bits
    words = keys[:, place // per_word] >> jnp.uint32(place % per_word * bits)[None]
    digits = words & jnp.uint32(2**bits - 1)
    if game.packing == "cells":
        # Seen by the mover, who is the second player after an odd number of stones.
        return Stones(*_to_mover(Stones(digits == 2, digits == 0)))
    rows = jnp.arange(game.shape[0], dtype=jnp.uint32)[None, ::-1, None]
    height = 31 - jax.lax.clz(digits)[:, None]
    taken, bit = rows < height, (digits[:, None] >> rows) & 1 == 1
    flat = (len(keys), -1)
    return Stones((taken & bit).reshape(flat), (taken & ~bit).reshape(flat))


def to_states(env_id: EnvId, stones: Stones) -> pgx.State:
    """Return the states of boards on which nobody has won; the first player has id 0.

    The fields of PGX's states of stones are filled in: what the rules need is the board
    and the player to move.
    """
    game = GAMES[env_id]
    num_stones = (stones.first | stones.second).sum(axis=1, dtype=jnp.int32)
    second_moves = num_stones % 2
    mine, yours = _to_mover(stones)
    free = ~(stones.first | stones.second)
    board = jnp.where(stones.first, 0, jnp.where(stones.second, 1, -1))
    # PGX's states of stones have the fields of ours, which `pgx.State` does not say.
    start = cast(line_games.State, _start(env_id, len(free)))
    return dataclasses.replace(
        start,
        current_player=second_moves,
        observation=jnp.stack([mine, yours], axis=-1).reshape(-1, *game.shape, 2),
        legal_action_mask=free if game.moves_on == "cells" else _open(game, free),
        _step_count=num_stones,
        _x=start._x._replace(color=second_moves, board=board.astype(jnp.int32)),
    )


def _start(env_id: EnvId, num_boards: int) -> pgx.State:
    """Return games before their first move."""
    env = pgx_games.make_env(env_id)
    start = jax.tree.map(lambda x: x[0], pgx_games.init(env, jax.random.key(0), 1))
    return jax.tree.map(lambda x: jnp.broadcast_to(x, (num_boards, *x.shape)), start)


def _open(game: GameFacts, free: Bool[Array, "B F"]) -> Bool[Array, "B A"]:
    """Return the columns whose highest cell is free."""
    return free[:, : game.shape[1]]


def all_views(env_id: EnvId) -> symmetry.Views:
    """Return the game's symmetric views; the identity alone where none are listed."""
    listed = symmetry.views(env_id)
    if listed is not None:
        return listed
    planes, num_actions = pgx_games.sizes(env_id)
    cells = np.arange(int(np.prod(planes[:2])))
    return symmetry.Views(cells[None], np.arange(num_actions)[None])


def keys_to_numbers(keys: UInt32[np.ndarray, "*N 2"]) -> UInt64[np.ndarray, "*N"]:
    """Return keys on the host as 64-bit numbers, the low word first."""
    return np.ascontiguousarray(keys).view("<u8")[..., 0]


def numbers_to_keys(numbers: UInt64[np.ndarray, "*N"]) -> UInt32[np.ndarray, "*N 2"]:
    """Return the keys of `keys_to_numbers`."""
    return numbers[..., None].view("<u4")
