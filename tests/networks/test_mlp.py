"""The convolution: which cells each patch has, and values compared with a loop."""

import four_in_a_row
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from jax_ttt.networks.mlp import Convolution
from jax_ttt.networks.patches import entries_of_patches

SHAPE = 6, 7, 2


def test_each_of_the_69_lines_of_connect_four_is_inside_a_patch():
    patches = [set(patch) for patch in entries_of_patches((6, 7, 1)).T.tolist()]
    lines = [{7 * y + x for x, y in line} for line in four_in_a_row.lines_of(7, 6)]
    assert (len(patches), len(lines)) == (12, 69)
    assert all(any(line <= patch for patch in patches) for line in lines)


@pytest.mark.parametrize(
    ("shape", "sizes"),
    [((3, 3, 1), (9, 1)), ((4, 5, 1), (16, 2)), ((2, 6, 3), (24, 3))],
)
def test_on_a_smaller_board_a_patch_is_as_long_as_the_board(shape, sizes):
    patches = entries_of_patches(shape)
    assert patches.shape == sizes
    assert set(patches.ravel().tolist()) == set(range(np.prod(shape)))


def test_values_are_those_of_a_loop_and_of_a_linear_layer():
    layer = Convolution(SHAPE, 3, nnx.relu, jnp.float32, nnx.Rngs(0))
    rng = np.random.default_rng(1)
    assert layer.bias[...].shape == (3, 12), "one for each filter and patch"
    bias = rng.normal(size=(3, 12)).astype(np.float32)
    nnx.update(layer, {"bias": bias})
    planes = rng.normal(size=(5, *SHAPE)).astype(np.float32)
    inputs = planes.reshape(5, -1).T
    values = nnx.jit(lambda layer, inputs: layer(inputs))(layer, inputs)
    assert values.shape == (layer.num_outputs, 5) == (36, 5)

    kernel = np.asarray(layer.filters.kernel[...])
    filters = kernel.reshape(3, 2, 4, 4)  # an entry's plane, row and column
    expected = np.zeros((3, 3, 4, 5))
    for row, column, board in np.ndindex(3, 4, 5):
        patch = planes[board, row : row + 4, column : column + 4]
        products = np.einsum("fchw,hwc->f", filters, patch)
        expected[:, row, column, board] = products + bias[:, 4 * row + column]
    np.testing.assert_allclose(values, expected.clip(0).reshape(36, 5), atol=1e-5)
