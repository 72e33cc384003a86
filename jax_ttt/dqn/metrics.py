"""Metrics of an update, and of several updates."""

from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

_Array: TypeAlias = jax.Array | np.ndarray


class GameCounts(NamedTuple):
    """Counts of games and moves: int32 on the device, int64 of a whole run.

    Wins and losses are the agent's; in self-play they are the first player's.
    """

    games: _Array  # games that ended
    wins: _Array
    losses: _Array
    env_steps: _Array  # moves played, in unfinished games only


class Metrics(NamedTuple):
    """Metrics of one update or several: counts are int32, and the others float32."""

    loss: _Array
    grad_norm: _Array  # L2 norm of the whole gradient
    mean_max_q: _Array  # mean value of the best legal action in unfinished games
    epsilon: _Array
    learning_rate: _Array
    counts: GameCounts
    rows: _Array  # rows of a table visited so far; 0 for a network
    updates: _Array
    finite_losses: _Array  # updates before the first infinite or NaN loss
    finite_grads: _Array  # updates before the first such gradient
    finite_weights: _Array  # bool: all weights are finite at the end of a chunk


def no_updates(shape: tuple[int, ...] = ()) -> Metrics:
    """Return the metrics before the first update, to which `add_update` adds."""
    zero = np.zeros(shape, np.float32)
    none = np.zeros(shape, np.int32)
    return Metrics(
        loss=zero,
        grad_norm=zero,
        mean_max_q=zero,
        epsilon=zero,
        learning_rate=zero,
        counts=GameCounts(games=none, wins=none, losses=none, env_steps=none),
        rows=none,
        updates=none,
        finite_losses=none,
        finite_grads=none,
        finite_weights=np.ones(shape, bool),
    )


def of_update(
    counts: GameCounts,
    loss: _Array,
    grad_norm: _Array,
    mean_max_q: _Array | float = 0.0,
    epsilon: _Array | float = 0.0,
    learning_rate: _Array | float = 0.0,
    rows: _Array | int = 0,
) -> Metrics:
    """Return the metrics of one update."""
    return Metrics(
        loss=jnp.asarray(loss, jnp.float32),
        grad_norm=jnp.asarray(grad_norm, jnp.float32),
        mean_max_q=jnp.asarray(mean_max_q, jnp.float32),
        epsilon=jnp.asarray(epsilon, jnp.float32),
        learning_rate=jnp.asarray(learning_rate, jnp.float32),
        counts=counts,
        rows=jnp.asarray(rows, jnp.int32),
        updates=jnp.int32(1),
        finite_losses=jnp.isfinite(loss).astype(jnp.int32),
        finite_grads=jnp.isfinite(grad_norm).astype(jnp.int32),
        finite_weights=jnp.bool(True),  # a chunk looks at them, once
    )


def add_update(metrics: Metrics, new: Metrics) -> Metrics:
    """Return the metrics of several updates together with those of the next one.

    Counts are sums. Loss, gradient norm and value are means, which are computed update
    by update: so their bits don't depend on how the updates are cut into calls.
    Epsilon, learning rate and rows are those of the last update.
    """
    updates = metrics.updates + new.updates
    # Stacked, because that takes fewer small kernels.
    means = jnp.stack([metrics.loss, metrics.grad_norm, metrics.mean_max_q])
    values = jnp.stack([new.loss, new.grad_norm, new.mean_max_q])
    means += (values - means) / updates
    # A mean stays infinite or NaN once it is.
    finite_losses, finite_grads = jnp.isfinite(means[:2]).astype(jnp.int32)
    loss, grad_norm, mean_max_q = means
    return new._replace(
        loss=loss,
        grad_norm=grad_norm,
        mean_max_q=mean_max_q,
        counts=jax.tree.map(jnp.add, metrics.counts, new.counts),
        updates=updates,
        finite_losses=metrics.finite_losses + finite_losses,
        finite_grads=metrics.finite_grads + finite_grads,
        finite_weights=metrics.finite_weights,
    )
