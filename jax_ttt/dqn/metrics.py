"""The figures of an update, and those of many updates in one call.

Axes: `T` updates.
"""

from typing import NamedTuple

import jax


class Metrics(NamedTuple):
    """The figures of an update: scalars, the counts int32 and the rest float32.

    Results are the agent's against an opponent, the first player's in self-play.
    """

    loss: jax.Array
    grad_norm: jax.Array  # L2 norm of the whole gradient
    mean_max_q: jax.Array  # of the best legal action, over the games still on
    epsilon: jax.Array
    learning_rate: jax.Array
    games: jax.Array  # games that ended
    wins: jax.Array
    losses: jax.Array
    env_steps: jax.Array  # moves played in games still on
    rows: jax.Array  # of a table that were visited so far; 0 for a network


def of_chunk(rows: Metrics) -> Metrics:
    """Return the metrics of a chunk from those of its updates, `(T,)` each.

    Sums of the counts, means of the loss, gradient norm and value, and the last
    epsilon, learning rate and rows.
    """
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
    )
