"""TD targets of a batch, the loss, its gradient, and the optimizer.

A new backup is one function and one entry of `BACKUPS`.

Axes: `H` heads (see `q_network.head_values`), `B` moves, `A` actions, `R` rows of a
table.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jaxtyping import Array, Bool, Float, Key

from jax_ttt.config.settings import HeadKind, OptimizerKind
from jax_ttt.dqn import equations
from jax_ttt.dqn.equations import ScalarLike, Transition

ValuesFn: TypeAlias = Callable[[nnx.State], Float[Array, "H B A"]]
"""A function from weights to the values of a batch's boards."""


def one_ply(
    batch: Transition,
    next_values_of: ValuesFn,
    _params: nnx.State,
    target_params: nnx.State,
    tremble: ScalarLike,
) -> Float[Array, "H B"]:
    """Return DQN's targets: the target network chooses the action and values it."""
    values = next_values_of(target_params)
    return _td_targets(batch, next_values=values, tremble=tremble)


def double(
    batch: Transition,
    next_values_of: ValuesFn,
    params: nnx.State,
    target_params: nnx.State,
    tremble: ScalarLike,
) -> Float[Array, "H B"]:
    """Return the targets of Double DQN: the network in training chooses the action."""
    return _td_targets(
        batch,
        next_values=next_values_of(target_params),
        chosen_by=next_values_of(params),
        tremble=tremble,
    )


def double_tables(
    batch: Transition,
    next_values_of: ValuesFn,
    _params: nnx.State,
    target_params: nnx.State,
    tremble: ScalarLike,
) -> Float[Array, "H B"]:
    """Return the targets of two tables: each chooses an action, the other values it.

    Source: van Hasselt 2010, "Double Q-learning".
    """
    tables = next_values_of(target_params)
    return _td_targets(
        batch, next_values=tables[::-1], chosen_by=tables, tremble=tremble
    )


def two_ply(
    batch: Transition,
    next_values_of: ValuesFn,
    _params: nnx.State,
    target_params: nnx.State,
    tremble: ScalarLike,
) -> Float[Array, "H B"]:
    """Return the targets of both heads (see `equations.two_ply_targets`)."""
    to_mover, to_waiting = next_values_of(target_params)
    targets = equations.two_ply_targets(
        reward=batch.reward,
        discount=batch.discount,
        next_q_values=to_mover,
        next_reply_values=to_waiting,
        next_legal_action_mask=batch.next_legal_action_mask,
        tremble=tremble,
    )
    return jnp.stack(targets)


BACKUPS = {
    "one-ply": one_ply,
    "two-ply": two_ply,
    "double": double,
    "double-tables": double_tables,
}
"""The functions from a batch to TD targets, by `Config.backup_rule`.

They take the batch, the values of its next boards as a function of weights, the weights
in training, the weights of the target network, and `tremble`.
"""


def _td_targets(
    batch: Transition,
    next_values: Float[Array, "H B A"],
    tremble: ScalarLike,
    chosen_by: Float[Array, "H B A"] | None = None,
) -> Float[Array, "H B"]:
    """Return the one-ply target of each head.

    The best next action has the highest value in `chosen_by`, or in `next_values` if it
    is None; `next_values` give its value.
    """
    choices = [None] * len(next_values) if chosen_by is None else chosen_by
    return jnp.stack(
        [
            equations.td_target(
                reward=batch.reward,
                discount=batch.discount,
                next_q_values=values,
                next_legal_action_mask=batch.next_legal_action_mask,
                tremble=tremble,
                chosen_by=choice,
            )
            for values, choice in zip(next_values, choices, strict=True)
        ]
    )


COSTS = {"huber": optax.huber_loss, "mse": optax.l2_loss}
"""The loss of one error, by the setting `loss`."""


def learning_heads(
    head_kind: HeadKind, key: Key[Array, ""], batch: Transition, num_heads: int
) -> Bool[Array, "H B"]:
    """Return which heads learn from each move; `key` is consumed.

    All heads learn from every move of an unfinished game. With two tables, one of them,
    chosen at random, learns from a move, and both learn from a game's last move.
    """
    if head_kind != "two-tables":
        return jnp.broadcast_to(batch.live, (num_heads, *batch.live.shape))
    draws_first_table = jax.random.bernoulli(key, shape=batch.live.shape)
    is_last_move = batch.discount == 0
    first_learns = batch.live & (draws_first_table | is_last_move)
    second_learns = batch.live & (~draws_first_table | is_last_move)
    return jnp.stack([first_learns, second_learns])


class Gradient(NamedTuple):
    """The loss of a batch, its gradient, and the visits to a table's entries."""

    loss: jax.Array  # () float32
    grads: nnx.State
    visits: nnx.State | None  # number of visits to each entry; only for a table


def network_gradient(
    values_of: ValuesFn,
    params: nnx.State,
    target: Float[Array, "H B"],
    batch: Transition,
    learns: Bool[Array, "H B"],
    cost: Callable[..., jax.Array],
) -> Gradient:
    """Return the loss of a batch and its gradient.

    Without replay, the network was already evaluated on these boards to choose the
    moves. The compiler finds the common computation and runs it once.
    """

    def loss_fn(params: nnx.State) -> jax.Array:
        head_losses = [
            equations.loss(
                q_values=head_values,
                action=batch.action,
                target=head_target,
                live=head_learns,
                cost=cost,
            )
            for head_values, head_target, head_learns in zip(
                values_of(params), target, learns, strict=True
            )
        ]
        # Not `sum`: its type includes the int 0, the sum of an empty list.
        return functools.reduce(jnp.add, head_losses)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return Gradient(loss, grads, None)


def table_gradient(
    values_of: ValuesFn,
    params: nnx.State,
    target: Float[Array, "H B"],
    batch: Transition,
    learns: Bool[Array, "H B"],
    cost: Callable[..., jax.Array],
) -> Gradient:
    """Return the loss of a batch, and its gradient averaged over each entry's visits.

    An SGD step then removes the same share of an entry's mean error, however many moves
    are in the batch and however many visit the entry. The number of visits is itself a
    gradient: the gradient of the sum of the played values.
    """

    def sum_of_played(params: nnx.State) -> jax.Array:
        played_by_heads = jax.vmap(equations.played_values, in_axes=(0, None))
        played = played_by_heads(values_of(params), batch.action)
        return jnp.where(learns, played, 0.0).sum()

    gradient = network_gradient(values_of, params, target, batch, learns, cost)
    visits = jax.grad(sum_of_played)(params)
    batch_size = len(batch.action)  # the loss is a mean over it
    grads = jax.tree.map(
        lambda g, n: g * batch_size / jnp.maximum(n, 1), gradient.grads, visits
    )
    return Gradient(gradient.loss, grads, visits)


def visited_rows(visits: nnx.State) -> Bool[Array, " R"]:
    """Return a mask of the table's visited rows."""
    (leaf,) = jax.tree.leaves(visits)
    return (leaf > 0).any(axis=1)


def optimizer(
    kind: OptimizerKind, learning_rate: ScalarLike, weight_decay: ScalarLike
) -> optax.GradientTransformation:
    """Return AdamW (Loshchilov and Hutter 2019) or SGD.

    Its state does not depend on the learning rate, so each step can have its own.
    """
    if kind == "sgd":
        return optax.sgd(learning_rate)
    return optax.adamw(learning_rate, weight_decay=weight_decay)
