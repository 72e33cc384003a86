"""A multilayer perceptron, with or without a convolution before its hidden layers.

Boards are in columns, the batch axis last (see `networks.fast_dense`).

Axes: `B` boards, `H W C` planes, `N` entries of the planes, `V` values of a board. In a
convolution: `P` patches of a board, `I` entries of a patch, `F` filters.
"""

import itertools
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax.typing import DTypeLike
from jaxtyping import Array, Float, Int

from jax_ttt.config.settings import PATCH_SIDE, Activation
from jax_ttt.networks.fast_dense import Columns, transpose

ACTIVATIONS: dict[Activation, Callable[[jax.Array], jax.Array]] = {
    "relu": nnx.relu,
    "tanh": nnx.tanh,
    "sigmoid": nnx.sigmoid,
}
"""The activation functions by their names in `--activation`."""


class MLP(nnx.Module):
    """A multilayer perceptron; its final tanh keeps values in the range of rewards.

    `shape` is the shape of the planes, `(H, W, C)`. With `num_filters`, a convolution
    comes before the hidden layers. `dtype` is the dtype of the matrix products.
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        num_filters: int,
        hidden_sizes: Sequence[int],
        num_values: int,
        activation: Activation,
        dtype: DTypeLike,
        rngs: nnx.Rngs,
    ) -> None:
        height, width, channels = shape
        num_inputs = height * width * channels
        activate = ACTIVATIONS[activation]
        convolution = None
        if num_filters:
            convolution = Convolution(shape, num_filters, activate, dtype, rngs)
            num_inputs = convolution.num_outputs
        self.convolution = convolution
        layers: list[Columns | Callable[[jax.Array], jax.Array]] = []
        sizes = (num_inputs, *hidden_sizes, num_values)
        for num_in, num_out in itertools.pairwise(sizes):
            layers += [Columns(num_in, num_out, dtype, rngs), activate]
        self.layers = nnx.Sequential(*layers[:-1], nnx.tanh)

    def __call__(self, planes: Float[Array, "B H W C"]) -> Float[Array, "B V"]:
        """Return the values, -1 to 1."""
        inputs = transpose(planes.reshape(planes.shape[0], -1))
        if self.convolution is not None:
            inputs = self.convolution(inputs)
        return transpose(self.layers(inputs))


class Convolution(nnx.Module):
    """The values of all filters in all patches of boards, by one matrix product.

    A filter has the same weights in every patch. Its bias differs by patch, as the
    place on the board matters. `shape` is the shape of the planes, `dtype` the dtype of
    the product.
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        num_filters: int,
        activation: Callable[[Float[Array, "F P B"]], Float[Array, "F P B"]],
        dtype: DTypeLike,
        rngs: nnx.Rngs,
    ) -> None:
        self.shape = shape
        self.activation = activation
        num_entries, num_patches = entries_of_patches(shape).shape
        self.filters = Columns(num_entries, num_filters, dtype, rngs, use_bias=False)
        self.bias = nnx.Param(jnp.zeros((num_filters, num_patches)))

    @property
    def num_outputs(self) -> int:
        """Number of values of a board: filters times patches."""
        return self.bias[...].size

    def __call__(self, inputs: Float[Array, "N B"]) -> Float[Array, "V B"]:
        """Return the values, after the activation."""
        num_boards = inputs.shape[1]
        values = self.filters(self._patches(inputs))
        values = values.reshape(*self.bias[...].shape, num_boards)
        return self.activation(values + self.bias[..., None]).reshape(-1, num_boards)

    def _patches(self, inputs: Float[Array, "N B"]) -> Float[Array, "I PB"]:
        """Return the entries of each patch of each board, as in `entries_of_patches`.

        They are slices of the planes: on a CPU this is twice as fast as indexing by
        the result of `entries_of_patches`.
        """
        height, width, channels = self.shape
        planes = inputs.reshape(height, width, channels, -1)
        rows, columns = (min(PATCH_SIDE, length) for length in (height, width))
        down, right = height - rows + 1, width - columns + 1
        entries = [
            planes[row : row + down, column : column + right, channel]
            for channel in range(channels)
            for row in range(rows)
            for column in range(columns)
        ]
        return jnp.stack(entries).reshape(len(entries), -1)


def entries_of_patches(shape: tuple[int, int, int]) -> Int[np.ndarray, "I P"]:
    """Return the entries of planes `(H, W, C)` in each patch of 4 x 4 cells.

    On a board that is smaller in a direction, a patch is as long as the board.
    """
    entries = np.arange(np.prod(shape)).reshape(shape)
    sides = tuple(min(PATCH_SIDE, length) for length in shape[:2])
    patches = np.lib.stride_tricks.sliding_window_view(entries, sides, axis=(0, 1))
    return patches.reshape(-1, np.prod(sides) * shape[2]).T
