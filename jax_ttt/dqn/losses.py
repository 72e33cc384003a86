"""The loss of a batch of moves, and its gradient.

Axes: `H` values of an action (see `q_network.heads`), `B` moves, `A` actions.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jaxtyping import Array, Float, Key

from jax_ttt.config.settings import Config
from jax_ttt.dqn import equations, tabular
from jax_ttt.networks import q_network
from jax_ttt.networks.q_network import Network


class Lesson(NamedTuple):
    """What a batch taught."""

    loss: jax.Array  # () float32
    grads: nnx.State
    visits: nnx.State | None  # of a table's entries


def lesson(
    config: Config,
    network: Network,
    params: nnx.State,
    target: Float[Array, "H B"],
    batch: equations.Transition,
    key: Key[Array, ""],
) -> Lesson:
    """Return the loss of the moves and its gradient; `key` is consumed.

    The network values the boards of moves just played a second time here, as it did to
    choose them; the compiler sees that and does it once.
    """
    cost = {"huber": optax.huber_loss, "mse": optax.l2_loss}[config.loss]
    live = jnp.broadcast_to(batch.live, target.shape)
    dtype = q_network.learning_dtype(config)
    if q_network.double_table(config):
        live = tabular.learns(key, batch)

    def loss_fn(params: nnx.State) -> jax.Array:
        values = q_network.heads(network, params, batch.obs, dtype)
        rows = zip(values, target, live, strict=True)
        losses = [equations.loss(v, batch.action, t, on, cost) for v, t, on in rows]
        return functools.reduce(jnp.add, losses)

    def played_sum(params: nnx.State) -> jax.Array:
        values = q_network.heads(network, params, batch.obs)
        played = jax.vmap(equations.played, in_axes=(0, None))(values, batch.action)
        return jnp.where(live, played, 0.0).sum()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    if config.network != "table":
        return Lesson(loss, grads, None)
    return Lesson(
        loss, *tabular.per_visit(played_sum, params, grads, len(batch.action))
    )
