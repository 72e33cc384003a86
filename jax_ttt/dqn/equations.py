"""The equations of deep Q-learning, one per function, for any game.

Axes: `B` games or batch, `A` actions. In a `legal_action_mask`, True means legal.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, PyTree

ScalarLike = float | Float[Array, ""]
"""A hyperparameter: a number, or an array in a compiled program."""


class Transition(NamedTuple):
    """One move in each game, from the mover's perspective."""

    obs: jax.Array  # (B, ...) before the move
    action: jax.Array  # (B,) int32
    reward: jax.Array  # (B,) float32
    discount: jax.Array  # (B,) float32: 0, gamma or -gamma
    next_obs: jax.Array  # (B, ...)
    next_legal_action_mask: jax.Array  # (B, A) bool
    live: jax.Array  # (B,) bool: the game was not over before the move
    legal_action_mask: jax.Array | None = None  # (B, A) bool, before the move


def greedy(
    q_values: Float[Array, "B A"], legal_action_mask: Bool[Array, "B A"]
) -> Int[Array, " B"]:
    """Return the legal action with the highest value, the first one among equals."""
    best = jnp.argmax(jnp.where(legal_action_mask, q_values, -jnp.inf), axis=-1)
    return best.astype(jnp.int32)


def random_legal(
    uniform: Float[Array, " B"], legal_action_mask: Bool[Array, "B A"]
) -> Int[Array, " B"]:
    """Map uniform numbers in [0, 1) to legal actions, each with equal probability.

    With the mask 1 0 1 1, the ranks are 1 1 2 3. The number chosen is 0, 1 or 2, and
    the action is the first one with a higher rank: 0, 2 or 3.
    """
    rank = legal_action_mask.cumsum(axis=-1)
    num_legal = rank[:, -1]
    # `uniform * num_legal` may be rounded up to `num_legal`.
    chosen = jnp.minimum((uniform * num_legal).astype(rank.dtype), num_legal - 1)
    return jnp.argmax(rank > chosen[:, None], axis=-1).astype(jnp.int32)


def epsilon_greedy(
    uniform: Float[Array, " B"],
    q_values: Float[Array, "B A"],
    legal_action_mask: Bool[Array, "B A"],
    epsilon: ScalarLike | Float[Array, " B"],
) -> Int[Array, " B"]:
    """Return a random legal action with probability `epsilon`, else the greedy one.

    `epsilon` is a scalar, or `(B,)` with one for each board. `uniform` are uniform
    numbers in [0, 1), and each is used twice: if it is below `epsilon`, the move is
    random, and divided by `epsilon` it is uniform in [0, 1) again and selects the move.
    """
    explore = uniform < epsilon
    explored = random_legal(
        jnp.where(explore, uniform / epsilon, 0.0), legal_action_mask
    )
    return jnp.where(explore, explored, greedy(q_values, legal_action_mask))


def played_values(
    q_values: Float[Array, "B A"], action: Int[Array, " B"]
) -> Float[Array, " B"]:
    """Return the values of the actions that were played."""
    return jnp.take_along_axis(q_values, action[:, None], axis=-1)[:, 0]


def td_target(
    reward: Float[Array, " B"],
    discount: Float[Array, " B"],
    next_q_values: Float[Array, "B A"],
    next_legal_action_mask: Bool[Array, "B A"],
    tremble: ScalarLike = 0.0,
    chosen_by: Float[Array, "B A"] | None = None,
) -> Float[Array, " B"]:
    """Return the mover's reward plus the discounted value of the next position.

    `reward + discount * ((1 - tremble) * max Q' + tremble * mean Q')`: the next mover
    plays its best legal action, or with probability `tremble` a random one. `discount`
    is negative if the next mover is the opponent. With `chosen_by`, the best action is
    the one with the highest value in `chosen_by`, and `next_q_values` (Q') give its
    value: Double DQN (van Hasselt et al. 2016).

    Source: Q-learning at `tremble` 0 (Mnih et al. 2015, "Human-level control through
    deep reinforcement learning"); above it, expected SARSA for an epsilon-soft mover
    (van Seijen et al. 2009), a trembling hand (Selten 1975).
    """
    value = trembling_value(next_q_values, next_legal_action_mask, tremble, chosen_by)
    # `where`, because the values of a finished game's board may be inf or NaN.
    bootstrap = jnp.where(discount == 0, 0.0, discount * value)
    return jax.lax.stop_gradient(reward + bootstrap)


def trembling_value(
    values: Float[Array, "B A"],
    legal_action_mask: Bool[Array, "B A"],
    tremble: ScalarLike,
    chosen_by: Float[Array, "B A"] | None = None,
) -> Float[Array, " B"]:
    """Return the expected value of the next move by a player that trembles.

    The player plays the best legal action by `chosen_by`, or by `values` if it is
    None. With probability `tremble` it plays a random legal action.
    """
    legal = legal_action_mask
    if chosen_by is None:
        best = jnp.where(legal, values, -jnp.inf).max(axis=-1)
    else:
        best = played_values(values, greedy(chosen_by, legal))
    mean = jnp.where(legal, values, 0.0).sum(axis=-1) / legal.sum(axis=-1)
    return (1 - tremble) * best + tremble * mean


def two_ply_targets(
    reward: Float[Array, " B"],
    discount: Float[Array, " B"],
    next_q_values: Float[Array, "B A"],
    next_reply_values: Float[Array, "B A"],
    next_legal_action_mask: Bool[Array, "B A"],
    tremble: ScalarLike,
) -> tuple[Float[Array, " B"], Float[Array, " B"]]:
    """Return the targets of a move: the value to its mover, and to the waiting player.

    Each player assumes that its opponent trembles and that it does not itself. So the
    next position is worth `max Q'` to the player who moves there, and `E[W']` to the
    player who waits there. Q' are `next_q_values`. W' are `next_reply_values`: what
    each action of the player who moves is worth to the player who waits.

        who moves next     target of the mover        target of the waiting player
        the opponent       reward + gamma * E[W']     -reward + gamma * max Q'
        the same player    reward + gamma * max Q'    -reward + gamma * E[W']
        no one: game over  reward                     -reward

    W' is learned from these targets too: it is the value after the opponent's reply,
    when its player moves again. So a transition of one ply gives a value of two plies.
    """
    legal, gamma = next_legal_action_mask, jnp.abs(discount)
    value_if_moving = trembling_value(next_q_values, legal, tremble=0.0)
    value_if_waiting = trembling_value(
        next_reply_values, legal, tremble, chosen_by=next_q_values
    )
    opponent_next = discount < 0
    to_mover = gamma * jnp.where(opponent_next, value_if_waiting, value_if_moving)
    to_waiting = gamma * jnp.where(opponent_next, value_if_moving, value_if_waiting)
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
    """Return the mean loss of the played actions over the batch.

    Finished games count in the mean, with a loss of 0. `cost` is the loss of one error:
    `optax.huber_loss` (delta 1) or `optax.l2_loss` (half the square).
    """
    costs = cost(played_values(q_values, action), target)
    return jnp.where(live, costs, 0.0).mean()


def polyak(params: PyTree, target_params: PyTree, tau: ScalarLike) -> PyTree:
    """Return the Polyak average `tau * params + (1 - tau) * target_params`.

    Source: Lillicrap et al. 2016.
    """
    return optax.incremental_update(params, target_params, tau)


def average_tau(
    span: ScalarLike, update: int | Int[Array, ""]
) -> float | Float[Array, ""]:
    """Return the share of update `update` in a running average of the weights.

    It is the `tau` of `polyak` for this average, not the setting `tau`, which is for
    the target network. The average is over about the share `span` of the updates so
    far, 0 to 1. With a span of 1, update 0, 1, 2, ... gets the share 1, 1/2, 1/3, ...,
    so the average is the plain mean of the weights after each update. With a span of 0,
    each update gets 1, so there is no average.

    Source: Shamir and Zhang 2013, polynomial-decay averaging.
    """
    return 1 / (1 + span * update)


def linear_schedule(
    start: ScalarLike, end: ScalarLike, num_updates: int
) -> optax.Schedule:
    """Return the linear schedule from `start` at update 0 to `end` at the last update.

    The last update has the index `num_updates - 1`; later ones have `end`.
    """
    last = max(num_updates - 1, 1)
    line = optax.linear_schedule(start, end, last)
    # Compiled, the line alone misses `end` by a rounding error.
    return optax.join_schedules([line, optax.constant_schedule(end)], [last])


def decay_schedule(
    schedule: optax.Schedule, factor: float, every: int
) -> optax.Schedule:
    """Return a schedule multiplied by `factor` after each `every` updates."""

    def decayed_schedule(update: jax.typing.ArrayLike) -> jax.Array:
        num_decays = jnp.floor_divide(update, every)
        return schedule(update) * jnp.float32(factor) ** num_decays

    return decayed_schedule


def step_schedule(
    start: ScalarLike, end: ScalarLike, drop: ScalarLike, num_updates: int
) -> optax.Schedule:
    """Return the schedule from `start` that falls by `drop` after each tenth of a run.

    It never falls below `end`.
    """

    def schedule(update: jax.typing.ArrayLike) -> jax.Array:
        # Not `10 * update`, which overflows 32 bits at 10**9 updates.
        tenth = jnp.floor_divide(update, max(num_updates / 10, 1))
        return jnp.maximum(start - drop * tenth, end)

    return schedule


def exponential_schedule(
    start: ScalarLike, end: ScalarLike, factor: ScalarLike
) -> optax.Schedule:
    """Return the schedule `start * factor**count`, but never below `end`."""

    def schedule(count: jax.typing.ArrayLike) -> jax.Array:
        # The upper limit is for a count that overflows 32 bits and becomes negative.
        return jnp.clip(start * jnp.float32(factor) ** count, end, start)

    return schedule
