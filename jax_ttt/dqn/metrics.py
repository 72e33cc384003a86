"""Metrics of an update and of a chunk of updates. Axes: `T` updates."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int


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


def of_chunk(rows: Metrics, weights: Any) -> Metrics:  # noqa: ANN401
    """Return the metrics of a chunk, from those of its updates, `(T,)` each.

    `weights` is a pytree of those at its end.

    Counts are sums; loss, gradient norm and value are means; epsilon, learning rate
    and rows are those of the last update.
    """
    all_weights = jnp.concatenate([leaf.ravel() for leaf in jax.tree.leaves(weights)])
    return Metrics(
        loss=rows.loss.mean(),
        grad_norm=rows.grad_norm.mean(),
        mean_max_q=rows.mean_max_q.mean(),
        epsilon=rows.epsilon[-1],
        learning_rate=rows.learning_rate[-1],
        games=rows.games.sum(),
        wins=rows.wins.sum(),
        losses=rows.losses.sum(),
        env_steps=rows.env_steps.sum(),
        rows=rows.rows[-1],
        finite_losses=_num_finite(rows.loss),
        finite_grads=_num_finite(rows.grad_norm),
        finite_weights=jnp.isfinite(all_weights).all(),
    )


def _num_finite(values: Float[Array, " T"]) -> Int[Array, ""]:
    """Return how many values precede the first one that is not finite."""
    end = len(values)
    return jnp.where(jnp.isfinite(values), end, jnp.arange(end)).min()
