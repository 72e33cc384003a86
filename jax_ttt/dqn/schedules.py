"""What falls while an agent learns: epsilon, and the optimizer's step size."""

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from jax_ttt.config.settings import Config
from jax_ttt.dqn import opponents
from jax_ttt.dqn.equations import Scalar


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


def exploration(
    config: Config, update: jax.typing.ArrayLike, games: jax.typing.ArrayLike
) -> Float[Array, ""]:
    """Return epsilon after this many updates and games."""
    start, end = config.epsilon_start, config.epsilon_end
    if config.epsilon_schedule == "exponential":
        epsilon = exponential(start, end, config.epsilon_decay)(games)
    elif config.epsilon_schedule == "steps":
        epsilon = steps(start, end, config.epsilon_decay, config.num_updates)(update)
    else:
        epsilon = linear(start, end, config.num_updates)(update)
    return jnp.asarray(epsilon)


def step_size(config: Config) -> optax.Schedule:
    """Return the learning rate by update."""
    return linear(config.learning_rate, config.learning_rate_end, config.num_updates)


def optimizer(config: Config) -> optax.GradientTransformation:
    """Return AdamW (Loshchilov and Hutter 2019) or SGD, its step size `step_size`."""
    steps_per_update = opponents.max_turns(config) if config.backward else 1

    def rate(count: jax.typing.ArrayLike) -> jax.typing.ArrayLike:
        return step_size(config)(jnp.floor_divide(count, steps_per_update))

    if config.optimizer == "sgd":
        return optax.sgd(rate)
    return optax.adamw(rate, weight_decay=config.weight_decay)
