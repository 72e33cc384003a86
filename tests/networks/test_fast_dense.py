"""The dense layer: its matrix products and their precision."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiny
from flax import nnx

from jax_ttt.config.settings import Config
from jax_ttt.dqn.learner import DQN
from jax_ttt.networks import fast_dense, q_network
from jax_ttt.players.saved_agents import network_from

FLOAT32 = Config.of(hidden_size=32, precision="float32")
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


def test_only_the_learner_rounds_and_by_less_than_a_hundredth(host_tree):
    """An agent's values don't differ at all."""
    params, obs = tiny.random_params(FLOAT32.architecture, scale=0.1), host_tree.obs

    def head_values(config):
        return jax.jit(DQN._head_values)(DQN.of(config), obs, params)

    def action_values(config):
        network = network_from(config.architecture)
        return jax.jit(q_network.action_values)(network, params, obs)

    rounded = head_values(BFLOAT16)
    assert rounded.dtype == jnp.float32
    assert 1e-5 < relative_error(rounded, head_values(FLOAT32)) < 1e-2
    np.testing.assert_array_equal(action_values(BFLOAT16), action_values(FLOAT32))
