"""The linear layer: its matrix products and their precision."""

import jax
import jax.numpy as jnp
import learners
import numpy as np
import pytest
from flax import nnx

from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.dqn import random_numbers
from jax_ttt.dqn.learner import Learner
from jax_ttt.grading import evaluation
from jax_ttt.grading.evaluation import Evaluation
from jax_ttt.networks import fast_dense, q_network
from jax_ttt.players.network_player import network_of

# tanh, because rounding can switch off a relu near 0 and with it the whole gradient.
FLOAT32 = Config.of(num_envs=64, hidden_size=32, activation="tanh", precision="float32")
BFLOAT16 = FLOAT32.replace(precision="bfloat16")


def relative(found, expected):
    """Return the norm of the error divided by the norm of the expected numbers."""
    error = np.asarray(found) - np.asarray(expected)
    return np.linalg.norm(error) / np.linalg.norm(expected)


@pytest.mark.parametrize(
    ("dtype", "least", "most"), [(jnp.float32, 0.0, 1e-5), (jnp.bfloat16, 1e-5, 1e-2)]
)
def test_an_affine_function_and_its_gradient_equal_numpys(dtype, least, most):
    keys = jax.random.split(jax.random.key(0), 4)
    shapes = (5, 9), (5,), (9, 64), (5, 64)
    args = *_, weights = [*map(jax.random.normal, keys, shapes)]

    @jax.jit
    def both(kernel, bias, inputs, weights):
        args = kernel, bias, inputs
        outputs, back = jax.vjp(lambda *args: fast_dense.affine(*args, dtype), *args)
        return outputs, *back(weights)

    kernel, bias, inputs, weights = map(np.asarray, args)
    expected = (
        kernel @ inputs + bias[:, None],
        weights @ inputs.T,
        weights.sum(axis=1),
        kernel.T @ weights,
    )
    for a, b in zip(both(*args), expected, strict=True):
        assert a.dtype == jnp.float32
        assert least <= relative(a, b) < most


def test_a_layer_equals_flax_linear_with_the_batch_axis_last():
    ours = fast_dense.Columns(4, 3, jnp.float32, nnx.Rngs(7))
    theirs = nnx.Linear(4, 3, rngs=nnx.Rngs(7))
    assert np.array_equal(ours.kernel[...], theirs.kernel[...].T)
    # A new bias is 0, which would hide an error.
    params = jax.tree.map(lambda leaf: leaf + 0.5, nnx.state(theirs))
    nnx.update(theirs, params)
    nnx.update(ours, jax.tree.map(jnp.transpose, params))
    inputs = jax.random.normal(jax.random.key(0), (4, 6))
    np.testing.assert_allclose(ours(inputs), theirs(inputs.T).T, atol=1e-6)


@jax.jit
def moves():
    """Return params and a batch of moves, many of them the last of their games."""
    learner = Learner.of(FLOAT32)
    state = learner.init(jax.random.key(0))

    def play(env_state, key):
        turn = random_numbers.draw_turn(jax.random.split(key, 3), FLOAT32.run.num_envs)
        return learner.play(state.params, env_state, turn, epsilon=jnp.float32(1))

    keys = jax.random.split(jax.random.key(1), 7)
    _, played = jax.lax.scan(play, state.env_state, keys)
    return state.params, jax.tree.map(lambda leaf: leaf[-1], played.transition)


@pytest.mark.slow
def test_losses_and_gradients_of_both_precisions_differ_by_less_than_a_hundredth():
    params, batch = moves()

    @jax.jit
    def learned(learner):
        values = q_network.heads(learner.network, params, batch.obs, learner.dtype)
        target = learner.td_targets(params, params, batch)
        found = learner.gradient(params, target, batch, jax.random.key(1))
        return values, found.loss, found.grads

    exact, rounded = (
        jax.tree.leaves(learned(Learner.of(config))) for config in (FLOAT32, BFLOAT16)
    )
    for a, b in zip(rounded, exact, strict=True):
        assert a.dtype == jnp.float32
        assert not np.array_equal(a, b)
        assert relative(a, b) < 1e-2


def test_an_agent_trained_in_any_precision_is_used_in_float32():
    params, batch = moves()
    values = jax.jit(q_network.q_values)
    networks = (network_of(config.architecture) for config in (FLOAT32, BFLOAT16))
    exact, rounded = (values(network, params, batch.obs) for network in networks)
    assert np.array_equal(exact, rounded)


@pytest.mark.slow
def test_training_in_bfloat16_ends_in_a_proof(tree):
    config = PRESETS["default"].replace(precision="bfloat16", eval_games=0)
    learner = Learner.of(config)
    state = learners.init(learner, jax.random.key(0))
    state, _ = learners.chunk(learner, state, num_updates=config.run.num_updates)
    exact = evaluation.grade_exactly(learner.network, state.params, tree)
    grade = evaluation.grade_of(config, Evaluation(exact=exact, sampled=None))
    assert grade.unbeatable
    assert grade.mean_win_rate is not None
    assert grade.mean_win_rate > 0.95
