"""Metrics of an update and of a chunk of updates. Axes: `T` updates."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PyTree


class Metrics(NamedTuple):
    """Metrics of an update or a chunk: scalars, counts int32 and the others float32.

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
    # Only of a chunk:
    finite_losses: jax.Array | None = None  # updates before the first infinite or NaN
    finite_grads: jax.Array | None = None  # loss, and before the first such gradient
    finite_weights: jax.Array | None = None  # bool: all weights are finite at its end


def chunk_metrics(per_update: Metrics, weights: PyTree) -> Metrics:
    """Return the metrics of a chunk, from the metrics of its updates, `(T,)` each.

    Counts are sums. Loss, gradient norm and value are means. Epsilon, learning rate and
    rows come from the last update. `weights` is the pytree of the weights after it.
    """
    # Stacked, because one sum over a matrix compiles faster than sums of its rows.
    values = jnp.stack([per_update.loss, per_update.grad_norm, per_update.mean_max_q])
    counts = jnp.stack(
        [per_update.games, per_update.wins, per_update.losses, per_update.env_steps]
    )
    loss, grad_norm, mean_max_q = values.mean(axis=1)
    games, wins, losses, env_steps = counts.sum(axis=1)
    finite_losses, finite_grads = _num_finite(values[:2])
    all_weights = jnp.concatenate([leaf.ravel() for leaf in jax.tree.leaves(weights)])
    return Metrics(
        loss=loss,
        grad_norm=grad_norm,
        mean_max_q=mean_max_q,
        epsilon=per_update.epsilon[-1],
        learning_rate=per_update.learning_rate[-1],
        games=games,
        wins=wins,
        losses=losses,
        env_steps=env_steps,
        rows=per_update.rows[-1],
        finite_losses=finite_losses,
        finite_grads=finite_grads,
        finite_weights=jnp.isfinite(all_weights).all(),
    )


def _num_finite(values: Float[Array, "N T"]) -> Int[Array, " N"]:
    """Return the number of values in each row before the first infinite or NaN one."""
    end = values.shape[1]
    return jnp.where(jnp.isfinite(values), end, jnp.arange(end)).min(axis=1)
