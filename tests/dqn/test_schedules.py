"""Schedules and optimizer steps, compared with results by hand."""

import jax
import numpy as np
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.dqn import equations, losses
from jax_ttt.dqn.learner import DQN


@pytest.mark.parametrize("num_updates", [1, 2, 24, 2500])
def test_a_linear_schedule_ends_exactly_with_the_last_update(num_updates):
    schedule = jax.jit(equations.linear_schedule(4e-3, 0.0, num_updates))
    assert schedule(0) == np.float32(4e-3)
    if num_updates > 1:
        assert schedule(num_updates - 2) > 0
        assert schedule(num_updates - 1) == schedule(num_updates + 99) == 0


def test_the_step_size_also_falls_by_a_factor_after_each_evaluation():
    config = Config.of(
        learning_rate=0.8,
        learning_rate_end=0.4,
        num_updates=5,
        learning_rate_decay=0.5,
        eval_every=2,
    )
    rates = jax.jit(jax.vmap(DQN.of(config).learning_rate))(np.arange(5))
    np.testing.assert_allclose(rates, [0.8, 0.7, 0.3, 0.25, 0.1], rtol=1e-6)


@pytest.mark.parametrize(
    ("schedule", "start", "end", "updates", "games", "expected"),
    [
        ("linear", 1.0, 0.5, [0, 50, 100, 999], 0, [1, 0.75, 0.5, 0.5]),
        # A tenth of the run are 10.1 updates.
        ("steps", 0.7, 0.0, [9, 10, 11, 20, 35], 0, [0.7, 0.7, 0.6, 0.6, 0.4]),
        ("steps", 0.7, 0.0, [69, 99], 0, [0.1, 0]),
        ("exponential", 0.3, 0.01, 0, [1, 678], [0.2985, 0.3 * 0.995**678]),
        ("exponential", 0.3, 0.01, [0, 9], [10**6, 679], [0.01, 0.01]),
    ],
)
def test_epsilon_follows_its_schedule(schedule, start, end, updates, games, expected):
    config = Config.of(
        epsilon_schedule=schedule,
        epsilon_start=start,
        epsilon_end=end,
        num_updates=101,
        **({"epsilon_decay": 0.995} if schedule == "exponential" else {}),
    )
    updates, games = np.broadcast_arrays(updates, games)
    epsilon = jax.jit(jax.vmap(DQN.of(config).epsilon))(updates, games)
    np.testing.assert_allclose(epsilon, expected, rtol=1e-4, atol=1e-6)


def test_the_first_steps_of_adamw_by_hand():
    """With a constant gradient, each step is as large as the learning rate."""
    params = np.array([2.0, -1.0], np.float32)
    grads = np.array([0.5, -3.0], np.float32)
    state = losses.optimizer("adamw", 1.0, weight_decay=0.1).init(params)

    @jax.jit
    def update(rate, state):
        optimizer = losses.optimizer("adamw", rate, weight_decay=0.1)
        return optimizer.update(grads, state, params)

    for rate in (4e-3, 3e-3):
        step, state = update(rate, state)
        expected = -rate * (np.sign(grads) + 0.1 * params)
        np.testing.assert_allclose(np.asarray(step), expected, rtol=1e-4)
