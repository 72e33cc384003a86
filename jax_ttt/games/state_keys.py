"""Positions as all bytes of their states, for games that have no shorter key.

Nothing is assumed about such a game: two positions are the same if all arrays of their
states have the same bytes. A position is two states, one where player 0 began the game
and one where player 1 began, so that rules which depend on these numbers are found.

A key is a row of bytes. Its first eight are a hash of the others, so that keys are
sorted mostly by one number; the others make it exact. Booleans are packed, eight to a
byte.

Axes: `B` positions, `W` bytes of a key, `A` actions.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jaxtyping import Array, Int, Int8, UInt8

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import EnvId
from jax_ttt.games import pgx_games, user_rules
from jax_ttt.games.user_rules import UserRules

_HASH_BYTES = 8


@pgx_games.cache_of_games
def rules_of(env_id: EnvId) -> UserRules:
    """Return the rules of a game, with both of its first states."""
    env = pgx_games.make_env(env_id)
    return env if isinstance(env, UserRules) else UserRules(env_id, env)


@jax.jit
def to_keys(pairs: pgx.State) -> UInt8[Array, "B W"]:
    """Return the keys of positions; `pairs` are their states, `(B, 2, ...)`."""
    columns = []
    for leaf in jax.tree.leaves(pairs):
        flat = leaf.reshape(len(leaf), -1)
        if flat.dtype == bool:
            columns.append(jnp.packbits(flat, axis=1))
        else:
            as_bytes = jax.lax.bitcast_convert_type(flat, jnp.uint8)
            columns.append(as_bytes.reshape(len(leaf), -1))
    row = jnp.concatenate(columns, axis=1)
    weights = np.random.default_rng(0).integers(
        2**32, size=(row.shape[1], _HASH_BYTES // 4), dtype=np.uint32
    )
    sums = row.astype(jnp.uint32) @ (weights | 1)
    as_bytes = jax.lax.bitcast_convert_type(sums, jnp.uint8)
    return jnp.concatenate([as_bytes.reshape(len(row), -1), row], axis=1)


def to_pairs(env_id: EnvId, keys: UInt8[Array, "B W"]) -> pgx.State:
    """Return the two states of each position, `(B, 2, ...)`."""
    like, structure = jax.tree.flatten(rules_of(env_id).starts)
    leaves, begin = [], _HASH_BYTES
    for leaf in like:
        is_bits = leaf.dtype == bool
        num_bytes = -(-leaf.size // 8) if is_bits else leaf.nbytes
        part, begin = keys[:, begin : begin + num_bytes], begin + num_bytes
        if is_bits:
            values = jnp.unpackbits(part, axis=1, count=leaf.size).astype(bool)
        else:
            size = leaf.dtype.itemsize
            part = part.reshape(len(keys), -1, size) if size > 1 else part
            values = jax.lax.bitcast_convert_type(part, leaf.dtype)
        leaves.append(values.reshape(len(keys), *leaf.shape))
    return jax.tree.unflatten(structure, leaves)


def states(env_id: EnvId, keys: UInt8[Array, "B W"], began: int = 0) -> pgx.State:
    """Return the states `(B, ...)` of positions in games that this player began."""
    return jax.tree.map(lambda leaf: leaf[:, began], to_pairs(env_id, keys))


WON, DRAWN, LOST, OPEN = 1, 0, -1, 2
"""What a move leads to: the result of the game, or it goes on."""


class AfterMoves(NamedTuple):
    """Positions after a move in each."""

    keys: jax.Array | np.ndarray  # (B, W)
    result: jax.Array | np.ndarray  # (B,) int8: WON, DRAWN, LOST to a player; or OPEN
    broken: jax.Array | np.ndarray | None = None  # (B,) int8: a rule's place, or -1


def play_pairs(
    env_id: EnvId,
    number: Int[Array, ""] | np.int32,
    keys: UInt8[Array, "B W"],
    action: Int[Array, " B"],
) -> AfterMoves:
    """Return the positions after a legal move in each, and its result to a player."""
    before = to_pairs(env_id, keys)
    step = jax.vmap(jax.vmap(rules_of(env_id).step, in_axes=(0, None)))
    pairs = step(before, action)
    num_moves = before._step_count[:, 0] + 1
    rules = jnp.stack([*user_rules.broken_rules(pairs, num_moves).values()])
    broken = jnp.where(rules.any(axis=0), rules.argmax(axis=0), -1).astype(jnp.int8)
    after = jax.tree.map(lambda leaf: leaf[:, 0], pairs)
    return AfterMoves(to_keys(pairs), result_of(after, number), broken)


def result_of(after: pgx.State, number: Int[Array, ""] | np.int32) -> Int8[Array, " B"]:
    """Return what moves lead to for this player, 0 or 1, in games that 0 began."""
    ended = jnp.sign(after.rewards[:, number]).astype(jnp.int8)
    return jnp.where(pgx_games.is_finished(after), ended, jnp.int8(OPEN))


def broken_rule(env_id: EnvId, after: AfterMoves) -> Refused:
    """Return the error of the first position that breaks a rule."""
    broken = np.asarray(after.broken)
    place = int((broken >= 0).argmax())
    pair = to_pairs(env_id, jnp.asarray(after.keys[place])[None])
    rules = [*user_rules.broken_rules(pair, pair._step_count[:, 0])]
    error = user_rules.broken(rules[broken[place]], int(pair._step_count[0, 0]))
    return Refused(f"{env_id}: {error}")
