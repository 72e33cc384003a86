"""A ring buffer of past moves on the device.

Axes: `B` moves added at once, `C` the buffer's capacity, `N` moves sampled.
Source: Lin 1992; Mnih et al. 2015, "Human-level control through deep reinforcement
learning".
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Key

from jax_ttt.config.settings import Config
from jax_ttt.dqn.equations import Transition


class Buffer(NamedTuple):
    """A ring buffer: new moves overwrite the oldest ones."""

    moves: Transition  # each leaf (C, ...)
    next_slot: jax.Array  # () int32, slot of the next move
    size: jax.Array  # () int32, number of moves in the buffer


def init_buffer(example: Transition, capacity: int) -> Buffer:
    """Return an empty buffer for moves like `example`, which may hold only shapes."""
    moves = jax.tree.map(
        lambda leaf: jnp.zeros((capacity, *leaf.shape[1:]), leaf.dtype), example
    )
    return Buffer(moves, jnp.int32(0), jnp.int32(0))


def add_moves(buffer: Buffer, batch: Transition) -> Buffer:
    """Return the buffer with a batch added, which must not exceed the capacity."""
    capacity, num_new = len(buffer.moves.action), len(batch.action)
    slots = (buffer.next_slot + jnp.arange(num_new)) % capacity
    moves = jax.tree.map(lambda old, new: old.at[slots].set(new), buffer.moves, batch)
    return Buffer(
        moves,
        (buffer.next_slot + num_new) % capacity,
        jnp.minimum(buffer.size + num_new, capacity),
    )


def remember(
    config: Config,
    buffer: Buffer | None,
    batch: Transition,
    key: Key[Array, ""],
) -> tuple[Buffer | None, Transition]:
    """Return the new buffer and the moves to learn from; `key` is consumed.

    Without a buffer, these are the moves just played, `batch`. With one, they are a
    sample of the buffer, to which `batch` is added first.
    """
    if buffer is None:
        return None, batch
    buffer = add_moves(buffer, batch)
    batch = sample_moves(
        buffer, key, num_moves=config.replay_batch, start=config.replay_start
    )
    return buffer, batch


def is_ready(buffer: Buffer, start: int) -> Bool[Array, ""]:
    """Return whether the buffer holds `start` moves, and at least one."""
    return buffer.size >= max(start, 1)


def sample_moves(
    buffer: Buffer, key: Key[Array, ""], num_moves: int, start: int
) -> Transition:
    """Sample moves uniformly, with replacement; `key` is consumed.

    Until the buffer is ready to learn from, no sampled move is `live`.
    """
    slots = jax.random.randint(key, (num_moves,), 0, jnp.maximum(buffer.size, 1))
    moves = jax.tree.map(lambda leaf: leaf[slots], buffer.moves)
    return moves._replace(live=moves.live & is_ready(buffer, start))
