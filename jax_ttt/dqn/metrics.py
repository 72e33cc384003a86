"""Metrics of an update and of a chunk of updates. Axes: `T` updates."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PyTree


class Metrics(NamedTuple):
    """Metrics of an update: scalars; counts are int32, the others float32.

    Wins and losses are the agent's; in self-play they are the first player's.
    """

    loss: jax.Array
    grad_norm: jax.Array  # L2 norm of the whole gradient
    mean_max_q: jax.Array  # mean value of the best legal action in unfinished games
    epsilon: jax.Array
    learning_rate: jax.Array
    games: jax.Array  # games that ended
    wins: jax.Array
    losses: jax.Array
    env_steps: jax.Array  # moves played, in unfinished games only
    rows: jax.Array  # rows of a table visited so far; 0 for a network
    # Only of a chunk: the updates before the first loss, and before the first gradient,
    # that is not finite, int32; and whether all weights are finite at its end.
    finite_losses: jax.Array | None = None
    finite_grads: jax.Array | None = None
    finite_weights: jax.Array | None = None


def chunk_metrics(rows: Metrics, weights: PyTree) -> Metrics:
    """Return the metrics of a chunk, from those of its updates, `(T,)` each.

    `weights` is a pytree of those at its end.

    Counts are sums; loss, gradient norm and value are means; epsilon, learning rate
    and rows are those of the last update.
    """
    # Stacked, because one sum of a matrix compiles faster than sums of its rows.
    values = jnp.stack([rows.loss, rows.grad_norm, rows.mean_max_q])
    counts = jnp.stack([rows.games, rows.wins, rows.losses, rows.env_steps])
    loss, grad_norm, mean_max_q = values.mean(axis=1)
    games, wins, losses, env_steps = counts.sum(axis=1)
    finite_losses, finite_grads = _num_finite(values[:2])
    all_weights = jnp.concatenate([leaf.ravel() for leaf in jax.tree.leaves(weights)])
    return Metrics(
        loss=loss,
        grad_norm=grad_norm,
        mean_max_q=mean_max_q,
        epsilon=rows.epsilon[-1],
        learning_rate=rows.learning_rate[-1],
        games=games,
        wins=wins,
        losses=losses,
        env_steps=env_steps,
        rows=rows.rows[-1],
        finite_losses=finite_losses,
        finite_grads=finite_grads,
        finite_weights=jnp.isfinite(all_weights).all(),
    )


def _num_finite(values: Float[Array, "N T"]) -> Int[Array, " N"]:
    """Return how many values of each row precede the first that is not finite."""
    end = values.shape[1]
    return jnp.where(jnp.isfinite(values), end, jnp.arange(end)).min(axis=1)
