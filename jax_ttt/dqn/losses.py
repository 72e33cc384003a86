"""TD targets of a batch, the loss, its gradient, and the optimizer.

A new backup is one function and one entry of `BACKUPS`.

Axes: `H` heads (see `q_network.heads`), `B` moves, `A` actions, `R` rows of a table.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jaxtyping import Array, Bool, Float, Key

from jax_ttt.config.hyper import Hyper
from jax_ttt.config.settings import Config
from jax_ttt.dqn import equations
from jax_ttt.dqn.equations import Transition
from jax_ttt.networks import q_network
from jax_ttt.networks.q_network import Network

NextValues: TypeAlias = Callable[[], Float[Array, "H B A"]]
"""Function that returns a network's values of the next boards."""


def one_ply(
    hyper: Hyper, batch: Transition, target_net: NextValues, online_net: NextValues
) -> Float[Array, "H B"]:
    """Return the targets of DQN: the target network chooses and values the action."""
    del online_net
    return _td_targets(hyper, batch, target_net(), [None])


def double(
    hyper: Hyper, batch: Transition, target_net: NextValues, online_net: NextValues
) -> Float[Array, "H B"]:
    """Return the targets of Double DQN: the network in training chooses the action."""
    return _td_targets(hyper, batch, target_net(), online_net())


def double_tables(
    hyper: Hyper, batch: Transition, target_net: NextValues, online_net: NextValues
) -> Float[Array, "H B"]:
    """Return the targets of two tables: each chooses, and the other values the action.

    Source: van Hasselt 2010, "Double Q-learning".
    """
    del online_net
    both = target_net()
    return _td_targets(hyper, batch, both[::-1], both)


def two_ply(
    hyper: Hyper, batch: Transition, target_net: NextValues, online_net: NextValues
) -> Float[Array, "H B"]:
    """Return the targets of both heads (see `equations.two_ply_targets`)."""
    del online_net
    mover, waiting = target_net()
    legal = batch.next_legal_action_mask
    args = batch.reward, batch.discount, mover, waiting, legal, hyper.tremble
    return jnp.stack(equations.two_ply_targets(*args))


def _td_targets(
    hyper: Hyper,
    batch: Transition,
    next_values: Float[Array, "H B A"],
    chosen_by: Float[Array, "H B A"] | list[None],
) -> Float[Array, "H B"]:
    reward, discount, legal = batch.reward, batch.discount, batch.next_legal_action_mask
    return jnp.stack(
        [
            equations.td_target(reward, discount, values, legal, hyper.tremble, choice)
            for values, choice in zip(next_values, chosen_by, strict=True)
        ]
    )


BACKUPS = {
    "one-ply": one_ply,
    "two-ply": two_ply,
    "double": double,
    "double-tables": double_tables,
}
"""The functions by `Config.backup_rule`."""

COSTS = {"huber": optax.huber_loss, "mse": optax.l2_loss}
"""The loss of one error, by the setting `loss`."""


def every_head(
    key: Key[Array, ""], batch: Transition, num_heads: int
) -> Bool[Array, "H B"]:
    """Return the mask by which all heads learn from each move of unfinished games."""
    del key
    return jnp.broadcast_to(batch.live, (num_heads, *batch.live.shape))


def one_of_two_tables(
    key: Key[Array, ""], batch: Transition, num_heads: int
) -> Bool[Array, "H B"]:
    """Return a mask of the table that learns from each move; `key` is consumed.

    A random one of the two learns from a move, and both learn from a game's last move.
    """
    del num_heads
    first = jax.random.bernoulli(key, shape=batch.live.shape)
    both = batch.discount == 0
    return jnp.stack([batch.live & (first | both), batch.live & (~first | both)])


LEARNING_HEADS = {
    "value": every_head,
    "value-and-reply": every_head,
    "two-tables": one_of_two_tables,
}
"""Functions that select the heads that learn, by `Architecture.heads`."""


class LossAndGradient(NamedTuple):
    """The loss of a batch, its gradient, and the visits of a table's entries."""

    loss: jax.Array  # () float32
    grads: nnx.State
    visits: nnx.State | None  # number of visits per entry; only for a table


def td_targets(
    config: Config,
    hyper: Hyper,
    network: Network,
    params: nnx.State,
    target_params: nnx.State,
    batch: Transition,
) -> Float[Array, "H B"]:
    """Return the TD targets of the played actions."""
    dtype = q_network.learning_dtype(config.network.precision)

    def next_values(params: nnx.State) -> Float[Array, "H B A"]:
        return q_network.heads(network, params, batch.next_obs, dtype)

    online_net, target_net = (
        functools.partial(next_values, p) for p in (params, target_params)
    )
    return BACKUPS[config.backup_rule](hyper, batch, target_net, online_net)


def loss_and_gradient(
    config: Config,
    network: Network,
    params: nnx.State,
    target: Float[Array, "H B"],
    batch: Transition,
    key: Key[Array, ""],
) -> LossAndGradient:
    """Return the loss of a batch and its gradient; `key` is consumed.

    The network was already evaluated on these boards when the moves were chosen. The
    compiler finds the common computation and runs it once.
    """
    dtype = q_network.learning_dtype(config.network.precision)
    cost = COSTS[config.optimizer.loss]
    learns = LEARNING_HEADS[network.architecture.heads](key, batch, len(target))

    def loss_fn(params: nnx.State) -> jax.Array:
        values = q_network.heads(network, params, batch.obs, dtype)
        rows = zip(values, target, learns, strict=True)
        losses = [equations.loss(v, batch.action, t, on, cost) for v, t, on in rows]
        return functools.reduce(jnp.add, losses)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    if not network.is_table:
        return LossAndGradient(loss, grads, None)
    visits = entry_visits(network, params, batch, learns)
    return LossAndGradient(loss, per_visit(grads, visits, len(batch.action)), visits)


def entry_visits(
    network: Network,
    params: nnx.State,
    batch: Transition,
    learns: Bool[Array, "H B"],
) -> nnx.State:
    """Return how often each entry of a table learns from the batch.

    It is computed as the gradient of the sum of the values that learn.
    """

    def sum_of_played(params: nnx.State) -> jax.Array:
        values = q_network.heads(network, params, batch.obs)
        played = jax.vmap(equations.played, in_axes=(0, None))(values, batch.action)
        return jnp.where(learns, played, 0.0).sum()

    return jax.grad(sum_of_played)(params)


def per_visit(grads: nnx.State, visits: nnx.State, batch_size: int) -> nnx.State:
    """Return a table's gradient, averaged over the visits of each entry.

    An SGD step then removes the same share of the error at any batch size and for any
    number of visits. `grads` is the gradient of a mean over `batch_size` moves.
    """
    return jax.tree.map(lambda g, n: g * batch_size / jnp.maximum(n, 1), grads, visits)


def visited_rows(visits: nnx.State) -> Bool[Array, " R"]:
    """Return a mask of the table's visited rows."""
    (leaf,) = jax.tree.leaves(visits)
    return (leaf > 0).any(axis=1)


def step_size(config: Config, hyper: Hyper) -> optax.Schedule:
    """Return the learning-rate schedule, by update."""
    start, end = hyper.learning_rate, hyper.learning_rate_end
    line = equations.linear(start, end, config.run.num_updates)
    decay, every = config.optimizer.learning_rate_decay, config.evaluation.eval_every
    return line if decay == 1 else equations.decayed(line, decay, every)


OPTIMIZERS = {
    "adamw": lambda rate, hyper: optax.adamw(rate, weight_decay=hyper.weight_decay),
    "sgd": lambda rate, hyper: optax.sgd(rate),
}
"""AdamW (Loshchilov and Hutter 2019) and SGD, by the setting `optimizer`."""


def optimizer(
    config: Config, hyper: Hyper, rate: optax.ScalarOrSchedule
) -> optax.GradientTransformation:
    """Return the optimizer of the settings; `rate` is the learning rate.

    With a number, the optimizer's state does not depend on the rate, so each step can
    have its own.
    """
    return OPTIMIZERS[config.optimizer.optimizer](rate, hyper)
