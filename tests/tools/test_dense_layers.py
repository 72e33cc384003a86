"""The network of `nnx.Linear` computes the same as the package's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from jax_ttt.networks.mlp import MLP
from tools.dense_layers import PlainMLP


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16])
def test_both_networks_have_the_same_values_and_gradients(dtype):
    planes = jax.random.normal(jax.random.key(1), (16, 3, 3, 1))

    def results(network):
        module = network((3, 3, 1), 0, (8, 8), 9, "tanh", dtype, nnx.Rngs(0))
        graph, params = nnx.split(module)

        def loss(params):
            values = nnx.merge(graph, params)(planes)
            return (values**2).sum(), values

        (_, values), grads = jax.jit(jax.value_and_grad(loss, has_aux=True))(params)
        return values, grads

    values, grads = results(MLP)
    plain_values, plain_grads = results(PlainMLP)
    tolerance = 1e-5 if dtype == jnp.float32 else 0.05
    np.testing.assert_allclose(values, plain_values, atol=tolerance)
    for ours, theirs in zip(
        jax.tree.leaves(grads), jax.tree.leaves(plain_grads), strict=True
    ):
        error = np.asarray(ours) - np.asarray(theirs).T
        assert np.linalg.norm(error) <= tolerance * np.linalg.norm(theirs)
