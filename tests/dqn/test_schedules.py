"""Schedules and optimizer steps, compared with results by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.dqn import equations, losses, rollout


@pytest.mark.parametrize(
    ("update", "value"), [(0, 0.9), (50, 0.475), (100, 0.05), (101, 0.05), (999, 0.05)]
)
def test_a_schedule_is_a_line_that_ends_with_the_last_update(update, value):
    schedule = jax.jit(equations.linear(0.9, 0.05, 101))
    assert float(schedule(update)) == pytest.approx(value, abs=1e-7)


@pytest.mark.parametrize("num_updates", [2, 7, 24, 1000, 2500])
def test_a_schedule_ends_exactly(num_updates):
    schedule = jax.jit(equations.linear(4e-3, 0.0, num_updates))
    assert float(schedule(0)) == pytest.approx(4e-3)
    assert float(schedule(num_updates - 1)) == 0
    assert float(schedule(num_updates - 2)) > 0


def test_a_single_update_has_the_first_value():
    assert np.asarray(equations.linear(0.9, 0.05, 1)(0)) == pytest.approx(0.9)


def test_the_step_size_also_falls_by_a_factor_after_each_evaluation():
    config = Config.of(
        **{"learning_rate": 0.8, "learning_rate_end": 0.4, "num_updates": 5},
        **{"learning_rate_decay": 0.5, "eval_every": 2},
    )
    schedule = losses.step_size(config, config.hyper)
    found = [float(jnp.asarray(schedule(n))) for n in range(5)]
    assert found == pytest.approx([0.8, 0.7, 0.3, 0.25, 0.1])


def test_epsilon_follows_its_schedule():
    def epsilons(config, pairs):
        return [
            float(rollout.exploration(config, config.hyper, *pair)) for pair in pairs
        ]

    steps = Config.of(
        epsilon_schedule="steps", epsilon_start=0.7, epsilon_end=0.0, num_updates=100
    )
    found = epsilons(steps, [(u, 0) for u in (0, 9, 10, 35, 69, 70, 99, 200)])
    np.testing.assert_allclose(found, [0.7, 0.7, 0.6, 0.4, 0.1, 0, 0, 0], atol=1e-6)
    decay = Config.of(
        epsilon_schedule="exponential",
        epsilon_start=0.3,
        epsilon_end=0.01,
        epsilon_decay=0.995,
    )
    found = epsilons(decay, [(0, games) for games in (0, 1, 100, 678, 679, 10**6)])
    expected = [0.3, 0.2985, 0.3 * 0.995**100, 0.3 * 0.995**678, 0.01, 0.01]
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    line = Config.of(num_updates=11, epsilon_start=1.0, epsilon_end=0.5)
    found = epsilons(line, [(u, 0) for u in (0, 5, 10, 11)])
    np.testing.assert_allclose(found, [1, 0.75, 0.5, 0.5])


def test_the_first_steps_of_adamw_by_hand():
    """With a constant gradient, each step is as large as the learning rate."""
    config = Config.of(weight_decay=0.1)
    params, grads = jnp.array([2.0, -1.0]), jnp.array([0.5, -3.0])
    state = losses.optimizer(config, config.hyper, rate=1.0).init(params)
    for rate in (4e-3, 3e-3):
        optimizer = losses.optimizer(config, config.hyper, rate)
        step, state = optimizer.update(grads, state, params)
        expected = -rate * (np.sign(grads) + 0.1 * params)
        np.testing.assert_allclose(np.asarray(step), expected, rtol=1e-4)
