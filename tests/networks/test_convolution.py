"""The filters: which cells each sees, and their values by a loop."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from jax_ttt.config.settings import Config
from jax_ttt.networks import q_network
from jax_ttt.networks.mlp import Convolution, as_linear, entries_of_patches
from jax_ttt.players import saved_agents
from jax_ttt.players.network_player import network_of

SHAPE = 6, 7, 2


def lines():
    """Return the cells of every four in a line on 6 rows and 7 columns."""
    found = []
    for row, column in np.ndindex(6, 7):
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            cells = [(row + n * down, column + n * right) for n in range(4)]
            if all(0 <= r < 6 and 0 <= c < 7 for r, c in cells):
                found.append({r * 7 + c for r, c in cells})
    return found


def test_each_line_of_connect_four_is_inside_a_patch():
    seen = entries_of_patches((6, 7, 1))
    assert seen.shape == (16, 12)
    assert len(lines()) == 69
    columns = [set(patch) for patch in seen.T.tolist()]
    assert all(any(line <= patch for patch in columns) for line in lines())


def test_a_patch_has_both_stones_of_neighbouring_cells():
    seen = entries_of_patches(SHAPE)
    assert seen.shape == (32, 12)
    first, right, below = seen[:, 0], seen[:, 1], seen[:, 4]
    np.testing.assert_array_equal(right - first, 2)
    np.testing.assert_array_equal(below - first, 14)
    assert {cell // 2 for cell in first.tolist()} == {
        7 * row + column for row in range(4) for column in range(4)
    }


@pytest.mark.parametrize(
    ("shape", "sizes"),
    [((3, 3, 1), (9, 1)), ((4, 5, 1), (16, 2)), ((2, 6, 3), (24, 3))],
)
def test_on_a_smaller_board_a_patch_is_as_long_as_the_board(shape, sizes):
    seen = entries_of_patches(shape)
    assert seen.shape == sizes
    assert set(seen.ravel().tolist()) == set(range(np.prod(shape)))


@pytest.fixture(scope="module")
def layer():
    """Return a layer whose biases are not 0."""
    made = Convolution(SHAPE, 3, nnx.relu, jnp.float32, nnx.Rngs(0))
    bias = np.random.default_rng(1).normal(size=made.bias[...].shape)
    bias = jnp.asarray(bias, jnp.float32)
    nnx.update(made, {"bias": bias})
    return made


def test_values_are_those_of_a_loop(layer):
    planes = np.random.default_rng(2).normal(size=(5, *SHAPE)).astype(np.float32)
    kernel, bias = (np.asarray(x[...]) for x in (layer.filters.kernel, layer.bias))
    # An entry's place in a patch: plane, row, column.
    filters = kernel.reshape(3, 2, 4, 4)
    expected = np.zeros((3, 3, 4, 5))
    for row, column, board in np.ndindex(3, 4, 5):
        patch = planes[board, row : row + 4, column : column + 4]
        here = np.einsum("fchw,hwc->f", filters, patch)
        expected[:, row, column, board] = here + bias[:, 4 * row + column]
    found = layer(jnp.asarray(planes.reshape(5, -1).T))
    assert found.shape == (layer.num_outputs, 5) == (36, 5)
    np.testing.assert_allclose(found, expected.clip(0).reshape(36, 5), atol=1e-5)


def test_a_linear_layer_has_the_same_values(layer):
    inputs = np.random.default_rng(3).normal(size=(84, 5)).astype(np.float32)
    kernel = np.asarray(layer.filters.kernel[...]).T
    linear = as_linear(kernel, SHAPE)
    assert linear.shape == (84, 36)
    bias = np.asarray(layer.bias[...]).reshape(-1, 1)
    expected = (linear.T @ inputs + bias).clip(0)
    np.testing.assert_allclose(layer(jnp.asarray(inputs)), expected, atol=1e-5)


def test_a_network_with_filters_has_them_once_for_all_patches():
    config = Config.of(
        env_id="connect_7x6", two_planes=True, filters=5, hidden_size=8, hidden_layers=1
    )
    params = q_network.init_params(network_of(config.architecture), jax.random.key(0))
    shapes = {
        name: leaf.shape for name, leaf in saved_agents.tensors_of(params).items()
    }
    assert shapes == {
        "convolution.filters.kernel": (5, 32),
        "convolution.bias": (5, 12),
        "layers.layers.0.kernel": (8, 60),
        "layers.layers.0.bias": (8,),
        "layers.layers.2.kernel": (7, 8),
        "layers.layers.2.bias": (7,),
    }
