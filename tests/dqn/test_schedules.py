"""Schedules and optimizer steps, compared with results by hand."""

import jax
import numpy as np
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.dqn import equations, losses
from jax_ttt.dqn.learner import Learner


def test_a_schedule_is_a_line_that_ends_with_the_last_update():
    schedule = jax.jit(equations.linear(0.9, 0.05, 101))
    found = schedule(np.array([0, 50, 100, 101, 999]))
    np.testing.assert_allclose(found, [0.9, 0.475, 0.05, 0.05, 0.05], atol=1e-7)


@pytest.mark.parametrize("num_updates", [2, 24, 2500])
def test_a_schedule_ends_exactly(num_updates):
    schedule = jax.jit(equations.linear(4e-3, 0.0, num_updates))
    ends = np.array([0, num_updates - 2, num_updates - 1])
    first, before, last = np.asarray(schedule(ends))
    assert first == np.float32(4e-3)
    assert before > 0
    assert last == 0


def test_a_single_update_has_the_first_value():
    schedule = jax.jit(equations.linear(0.9, 0.05, 1))
    assert float(schedule(0)) == pytest.approx(0.9)


def test_the_step_size_also_falls_by_a_factor_after_each_evaluation():
    config = Config.of(
        **{"learning_rate": 0.8, "learning_rate_end": 0.4, "num_updates": 5},
        **{"learning_rate_decay": 0.5, "eval_every": 2},
    )
    found = jax.jit(jax.vmap(Learner.of(config).learning_rate))(np.arange(5))
    np.testing.assert_allclose(found, [0.8, 0.7, 0.3, 0.25, 0.1], rtol=1e-6)


def test_epsilon_follows_its_schedule():
    def epsilons(config, pairs):
        epsilon = jax.jit(jax.vmap(Learner.of(config).epsilon))
        return epsilon(*np.array(pairs).T)

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
