"""What differs when the network is a table: the step's size, and two tables in turn.

Axes: `H` values of an action, `B` moves.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Bool, Key

from jax_ttt.dqn.equations import Transition


def per_visit(
    played_sum: Callable[[nnx.State], jax.Array],
    params: nnx.State,
    grads: nnx.State,
    batch_size: int,
) -> tuple[nnx.State, nnx.State]:
    """Return a table's gradient as the mean over the visits of each entry, and these.

    So a step of SGD takes the same share of the error away at any batch size, however
    often an entry was met. How often that was is a gradient too: that of the sum of
    the played values that learn, `played_sum(params)`. `grads` is of a mean over
    `batch_size` moves.
    """
    visits = jax.grad(played_sum)(params)
    grads = jax.tree.map(lambda g, n: g * batch_size / jnp.maximum(n, 1), grads, visits)
    return grads, visits


def learns(key: Key[Array, ""], batch: Transition) -> Bool[Array, "2 B"]:
    """Return which of two tables learns from which move; `key` is consumed.

    One of them, drawn anew for each move; both from the last move of a game.
    """
    first = jax.random.bernoulli(key, shape=batch.live.shape)
    both = batch.discount == 0
    return jnp.stack([batch.live & (first | both), batch.live & (~first | both)])


def met(visits: nnx.State) -> Bool[Array, " R"]:
    """Return the rows of the table that were visited."""
    (leaf,) = jax.tree.leaves(visits)
    return (leaf > 0).any(axis=1)
