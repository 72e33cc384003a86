"""Deep Q-learning, one equation a function. Knows no game.

Axes: `B` games or batch, `A` actions. A `legal_action_mask` is True where legal.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, PyTree

Scalar = float | Float[Array, ""]
"""A setting: a number, or traced, as data of a compiled program."""


class Transition(NamedTuple):
    """One move in each game, as its mover sees it; the first axis is `B`."""

    obs: jax.Array  # (B, ...) before the move
    action: jax.Array  # (B,) int32
    reward: jax.Array  # (B,) float32
    discount: jax.Array  # (B,) float32: 0, gamma or -gamma
    next_obs: jax.Array  # (B, ...)
    next_legal_action_mask: jax.Array  # (B, A) bool
    live: jax.Array  # (B,) bool: the game was still on before the move


def greedy(
    q_values: Float[Array, "B A"], legal_action_mask: Bool[Array, "B A"]
) -> Int[Array, " B"]:
    """Return the best legal action, the lowest one of equals."""
    best = jnp.argmax(jnp.where(legal_action_mask, q_values, -jnp.inf), axis=-1)
    return best.astype(jnp.int32)


def random_legal(
    uniform: Float[Array, " B"], legal_action_mask: Bool[Array, "B A"]
) -> Int[Array, " B"]:
    """Turn a number drawn evenly from [0, 1) into a legal action drawn evenly."""
    rank = legal_action_mask.cumsum(axis=-1)
    num_legal = rank[:, -1]
    chosen = jnp.minimum((uniform * num_legal).astype(rank.dtype), num_legal - 1)
    return jnp.argmax(rank > chosen[:, None], axis=-1).astype(jnp.int32)


def epsilon_greedy(
    uniform: Float[Array, " B"],
    q_values: Float[Array, "B A"],
    legal_action_mask: Bool[Array, "B A"],
    epsilon: Float[Array, ""],
) -> Int[Array, " B"]:
    """Play a random legal action with probability `epsilon`, else the greedy one.

    `uniform` is drawn evenly from [0, 1) and serves twice: below `epsilon` it says
    explore, and what is below `epsilon`, divided by it, is uniform again.
    """
    explore = uniform < epsilon
    explored = random_legal(
        jnp.where(explore, uniform / epsilon, 0.0), legal_action_mask
    )
    return jnp.where(explore, explored, greedy(q_values, legal_action_mask))


def played(
    q_values: Float[Array, "B A"], action: Int[Array, " B"]
) -> Float[Array, " B"]:
    """Return the values of the actions that were played."""
    return jnp.take_along_axis(q_values, action[:, None], axis=-1)[:, 0]


def td_target(
    reward: Float[Array, " B"],
    discount: Float[Array, " B"],
    next_q_values: Float[Array, "B A"],
    next_legal_action_mask: Bool[Array, "B A"],
    tremble: Scalar = 0.0,
    chosen_by: Float[Array, "B A"] | None = None,
) -> Float[Array, " B"]:
    """Return the mover's reward plus the discounted value of the next position.

    The next mover plays its best legal action, or with probability `tremble` a random
    one: `reward + discount * ((1 - tremble) * max Q' + tremble * mean Q')`. With
    `chosen_by`, the best action is that of these values, and max Q' is what
    `next_q_values` say of it: Double DQN (van Hasselt et al. 2016).

    Source: Q-learning at `tremble` 0 (Mnih et al. 2015, "Human-level control through
    deep reinforcement learning"); above it, expected SARSA for an epsilon-soft mover
    (van Seijen et al. 2009), a trembling hand (Selten 1975).
    """
    value = trembling(next_q_values, next_legal_action_mask, tremble, chosen_by)
    # Selected, not multiplied: what a finished game's board is "worth" may be junk.
    bootstrap = jnp.where(discount == 0, 0.0, discount * value)
    return jax.lax.stop_gradient(reward + bootstrap)


def trembling(
    values: Float[Array, "B A"],
    legal_action_mask: Bool[Array, "B A"],
    tremble: Scalar,
    chosen_by: Float[Array, "B A"] | None = None,
) -> Float[Array, " B"]:
    """Return what `values` say of a mover who plays the best legal action.

    That of `chosen_by`, or else of `values` themselves; with probability `tremble` it
    plays any legal action.
    """
    legal = legal_action_mask
    if chosen_by is None:
        best = jnp.where(legal, values, -jnp.inf).max(axis=-1)
    else:
        best = played(values, greedy(chosen_by, legal))
    mean = jnp.where(legal, values, 0.0).sum(axis=-1) / legal.sum(axis=-1)
    return (1 - tremble) * best + tremble * mean


def two_ply_targets(
    reward: Float[Array, " B"],
    discount: Float[Array, " B"],
    next_q_values: Float[Array, "B A"],
    next_reply_values: Float[Array, "B A"],
    next_legal_action_mask: Bool[Array, "B A"],
    tremble: Scalar,
) -> tuple[Float[Array, " B"], Float[Array, " B"]]:
    """Return what a move is worth to its mover, and what to the one who waited.

    Whoever's turn is next plays its best action for sure when it is oneself, and
    trembles when it is the other: `reward + gamma * E[reply values]` to the mover, and
    `-reward + gamma * max Q'` to the one who waited. `next_reply_values` are the values
    to the one who waits, of the actions of the next mover. So a one-ply transition
    teaches the value after two plies.
    """
    legal, gamma = next_legal_action_mask, jnp.abs(discount)
    mover = trembling(next_q_values, legal, 0.0)
    waiting = trembling(next_reply_values, legal, tremble, chosen_by=next_q_values)
    other_next = discount < 0
    to_mover = gamma * jnp.where(other_next, waiting, mover)
    to_waiting = gamma * jnp.where(other_next, mover, waiting)
    over = discount == 0
    targets = (
        reward + jnp.where(over, 0.0, to_mover),
        -reward + jnp.where(over, 0.0, to_waiting),
    )
    return jax.lax.stop_gradient(targets)


def loss(
    q_values: Float[Array, "B A"],
    action: Int[Array, " B"],
    target: Float[Array, " B"],
    live: Bool[Array, " B"],
    cost: Callable[..., jax.Array] = optax.huber_loss,
) -> Float[Array, ""]:
    """Return the mean cost of the actions played, 0 in finished games.

    The mean is over the whole batch, finished games included. `cost` is the Huber loss
    (delta 1) by default, `optax.l2_loss` half of the squared error.
    """
    costs = cost(played(q_values, action), target)
    return jnp.where(live, costs, 0.0).mean()


def polyak(params: PyTree, target_params: PyTree, tau: Scalar) -> PyTree:
    """Return `tau * params + (1 - tau) * target_params` (Lillicrap et al. 2016)."""
    return optax.incremental_update(params, target_params, tau)


def average_tau(span: Scalar, update: int | Int[Array, ""]) -> float | Float[Array, ""]:
    """Return the `tau` of an average over about `span` of the updates so far.

    1 at the first update, and throughout with a span of 0: there is no average then.
    Source: Shamir and Zhang 2013, polynomial-decay averaging.
    """
    return 1 / (1 + span * update)


def linear(start: Scalar, end: Scalar, num_updates: int) -> optax.Schedule:
    """Return the straight line from `start` at update 0 to `end` at the last one.

    The last of `num_updates` has the index `num_updates - 1`; beyond it, `end`.
    """
    last = max(num_updates - 1, 1)
    line = optax.linear_schedule(start, end, last)
    # Compiled, the line misses its end by a rounding.
    return optax.join_schedules([line, optax.constant_schedule(end)], [last])


def steps(start: Scalar, end: Scalar, drop: Scalar, num_updates: int) -> optax.Schedule:
    """Return `start`, less `drop` after each tenth of the updates, at least `end`."""

    def schedule(update: jax.typing.ArrayLike) -> jax.Array:
        # Not 10 * update: of 10**9 that is too large for 32 bits.
        tenth = jnp.floor_divide(update, max(num_updates / 10, 1))
        return jnp.maximum(start - drop * tenth, end)

    return schedule


def exponential(start: Scalar, end: Scalar, factor: Scalar) -> optax.Schedule:
    """Return `start * factor**count`, from `end` to `start`."""

    def schedule(count: jax.typing.ArrayLike) -> jax.Array:
        # A count beyond 32 bits turns negative.
        return jnp.clip(start * jnp.float32(factor) ** count, end, start)

    return schedule
