"""The plain loop computes the same as the compiled program."""

import itertools

import jax
import numpy as np
import pytest
from flax import nnx

from jax_ttt.config.grade import wilson_interval
from jax_ttt.config.presets import PRESETS
from jax_ttt.dqn.learner import DQN
from jax_ttt.grading import training_evaluation
from jax_ttt.players.saved_agents import network_from
from tools.benchmarks import plain_loop

SMALL = PRESETS["article"].replace(
    num_envs=32, hidden_size=16, num_updates=24, eval_every=10, eval_games=2048
)


def assert_close(a, b):
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_allclose(x, y, atol=1e-5)


def transposed(params):
    """Return weights in the format of the other program, with transposed kernels."""
    return jax.tree.map(np.transpose, params)


@pytest.mark.slow
def test_the_plain_loop_computes_each_update_of_the_compiled_program():
    key, games = jax.random.key(5), 0
    learner = DQN.of(SMALL)
    chunk = jax.jit(DQN.chunk)
    state = jax.jit(DQN.init)(learner, key)
    for moment in itertools.islice(plain_loop.train_plain_loop(SMALL, key), 24):
        state, metrics = chunk(learner, state, num_updates=1)
        games += int(metrics.counts.games)
        assert_close(nnx.state(moment.network), transposed(state.params))
        assert_close(nnx.state(moment.target_network), transposed(state.target_params))
        assert_close(moment.env_state.observation, state.env_state.observation)
        assert moment.loss == pytest.approx(float(metrics.loss), abs=1e-5)
    assert games >= 64  # two batches were finished, and a third was started


@pytest.mark.slow
def test_the_plain_loops_evaluation_agrees_with_the_exact_one(tree):
    network = next(plain_loop.train_plain_loop(SMALL, jax.random.key(2))).network
    counts = plain_loop.play_evaluation(SMALL, network, jax.random.key(3))
    assert sum(counts) == 2048
    config = SMALL.replace(eval_games=0)
    params = transposed(nnx.state(network, nnx.Param))
    network_of_config = network_from(config.architecture)
    exact, *_ = training_evaluation.grade_exactly(network_of_config, params, tree)
    for count, rates in zip(counts, exact.T, strict=True):
        low, high = wilson_interval(count, 2048, z=4.0)
        assert low <= np.mean(rates) <= high


@pytest.mark.slow
def test_the_plain_loop_trains_evaluates_and_saves(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(plain_loop.PRESETS, "article", SMALL)
    assert plain_loop.main([str(tmp_path / "weights.npz")]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split(":")[0] for row in rows] == ["10", "20", "24"]
    with np.load(tmp_path / "weights.npz") as saved:
        shapes = sorted(saved[name].shape for name in saved.files)
    assert shapes == [(9,), (9, 16), (16,), (16,), (16, 9), (16, 16)]
