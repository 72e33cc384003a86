"""Schedules of epsilon, the share of random moves, and random openings.

A new schedule is one function and one entry of `SCHEDULES`.

Axes: `B` games.
"""

import jax.numpy as jnp
import numpy as np
import pgx
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from jax_ttt.config.settings import Config
from jax_ttt.dqn import equations
from jax_ttt.dqn.equations import ScalarLike
from jax_ttt.games import pgx_games


def linear_epsilon(config: Config, update: ArrayLike, _games: ArrayLike) -> ArrayLike:
    """Return epsilon, linear in the updates."""
    schedule = equations.linear_schedule(
        config.epsilon_start, config.epsilon_end, config.num_updates
    )
    return schedule(update)


def stepped_epsilon(config: Config, update: ArrayLike, _games: ArrayLike) -> ArrayLike:
    """Return epsilon, lowered by a step after each tenth of the updates."""
    schedule = equations.step_schedule(
        start=config.epsilon_start,
        end=config.epsilon_end,
        drop=config.epsilon_decay,
        num_updates=config.num_updates,
    )
    return schedule(update)


def exponential_epsilon(
    config: Config, _update: ArrayLike, games: ArrayLike
) -> ArrayLike:
    """Return epsilon, multiplied by a factor after each finished game."""
    schedule = equations.exponential_schedule(
        start=config.epsilon_start, end=config.epsilon_end, factor=config.epsilon_decay
    )
    return schedule(games)


SCHEDULES = {
    "linear": linear_epsilon,
    "steps": stepped_epsilon,
    "exponential": exponential_epsilon,
}
"""The functions by the setting `epsilon_schedule`.

They take the numbers of updates and of finished games so far.
"""


def opening_epsilon(
    config: Config, env_state: pgx.State, epsilon: ScalarLike
) -> ScalarLike | Float[Array, " B"]:
    """Return epsilon for each game: 1 during its random opening.

    The length of the opening is not random: it is fixed by the game's place in the
    batch. Every fourth game, from the first, has none. The others have 0, 1, ...,
    `random_opening` moves, and again from 0. With one or two games, none has a random
    opening. Without the setting `random_opening`, the result is `epsilon`.
    """
    if not config.random_opening:
        return epsilon
    place = np.arange(len(env_state.terminated))
    length = (place - place // 4 - 1) % (config.random_opening + 1)
    length = jnp.asarray(np.where(place % 4 == 0, 0, length))
    return jnp.where(pgx_games.num_moves(env_state) < length, 1.0, epsilon)
