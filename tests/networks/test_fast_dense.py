"""The dense layer: its matrix products and their precision."""

import jax
import jax.numpy as jnp
import learners
import numpy as np
import pytest
from flax import nnx

from jax_ttt.config.settings import Config
from jax_ttt.dqn import random_numbers
from jax_ttt.dqn.learner import DQN
from jax_ttt.networks import fast_dense, q_network
from jax_ttt.players.saved_agents import network_from

# tanh, because rounding can switch off a relu near 0 and with it the whole gradient.
FLOAT32 = Config.of(num_envs=64, hidden_size=32, activation="tanh", precision="float32")
BFLOAT16 = FLOAT32.replace(precision="bfloat16")


def relative_error(values, expected):
    """Return the norm of the error divided by the norm of the expected numbers."""
    error = np.asarray(values) - np.asarray(expected)
    return np.linalg.norm(error) / np.linalg.norm(expected)


@pytest.mark.parametrize(
    ("dtype", "least", "most"), [(jnp.float32, 0.0, 1e-5), (jnp.bfloat16, 1e-5, 1e-2)]
)
def test_an_affine_function_and_its_gradient_equal_numpys(dtype, least, most):
    rng = np.random.default_rng(0)
    kernel, bias, inputs, weights = (
        rng.normal(size=shape).astype(np.float32)
        for shape in ((5, 9), (5,), (9, 64), (5, 64))
    )

    @jax.jit
    def value_and_gradients(kernel, bias, inputs):
        def affine(kernel, bias, inputs):
            return fast_dense.affine(kernel, bias, inputs, dtype)

        outputs, backward = jax.vjp(affine, kernel, bias, inputs)
        return outputs, *backward(jnp.asarray(weights))

    expected = (
        kernel @ inputs + bias[:, None],
        weights @ inputs.T,
        weights.sum(axis=1),
        kernel.T @ weights,
    )
    for a, b in zip(value_and_gradients(kernel, bias, inputs), expected, strict=True):
        assert a.dtype == jnp.float32
        assert least <= relative_error(a, b) < most


def test_a_layer_equals_flax_linear_with_the_batch_axis_last():
    ours = fast_dense.Columns(4, 3, jnp.float32, nnx.Rngs(7))
    theirs = nnx.Linear(4, 3, rngs=nnx.Rngs(7))
    assert np.array_equal(ours.kernel[...], np.asarray(theirs.kernel[...]).T)
    # A new bias is 0, which would hide an error.
    half = np.float32(0.5)
    params = jax.tree.map(lambda leaf: np.asarray(leaf) + half, nnx.state(theirs))
    nnx.update(theirs, params)
    nnx.update(ours, jax.tree.map(np.transpose, params))
    inputs = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
    call = nnx.jit(lambda layer, inputs: layer(inputs))
    expected = np.asarray(call(theirs, inputs.T)).T
    np.testing.assert_allclose(call(ours, inputs), expected, atol=1e-6)


@pytest.mark.slow
def test_only_the_learner_rounds_and_by_less_than_a_hundredth():
    """Losses and gradients differ by less; an agent's values don't differ at all."""

    @jax.jit
    def last_moves(learner):
        """Return weights and moves, many of them the last of their games."""
        state = learner.init(jax.random.key(0))

        def play(env_state, key):
            turn = random_numbers.draw_turn(jax.random.split(key, 3), 64)
            return learner.play(state.params, env_state, turn, epsilon=jnp.float32(1))

        keys = jax.random.split(jax.random.key(1), 7)
        _, played = jax.lax.scan(play, state.env_state, keys)
        return state.params, jax.tree.map(lambda leaf: leaf[-1], played.transition)

    exact, rounded = DQN.of(FLOAT32), DQN.of(BFLOAT16)
    params, batch = last_moves(exact)

    def values_loss_and_gradient(learner):
        heads = jax.jit(q_network.head_values, static_argnums=3)
        values = heads(learner.network, params, batch.obs, learner.dtype)
        target = learners.td_targets(learner, params, params, batch)
        gradient = learners.gradient(learner, params, target, batch, jax.random.key(1))
        return jax.tree.leaves((values, gradient.loss, gradient.grads))

    pairs = zip(
        values_loss_and_gradient(rounded), values_loss_and_gradient(exact), strict=True
    )
    for a, b in pairs:
        assert a.dtype == jnp.float32
        assert not np.array_equal(a, b)
        assert relative_error(a, b) < 1e-2
    q_values = jax.jit(q_network.action_values)
    networks = (network_from(config.architecture) for config in (FLOAT32, BFLOAT16))
    one, other = (q_values(network, params, batch.obs) for network in networks)
    assert np.array_equal(one, other)
