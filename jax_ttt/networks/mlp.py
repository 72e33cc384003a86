"""A multilayer perceptron, with or without a convolution before its hidden layers.

Boards are in columns, the batch axis last (see `networks.fast_dense`).

Axes: `B` boards, `H W C` planes, `N` entries of the planes, `V` values of a board. In a
convolution: `P` patches of a board, `F` filters.
"""

import itertools
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
from flax import nnx
from jax.typing import DTypeLike
from jaxtyping import Array, Float

from jax_ttt.config.settings import Activation
from jax_ttt.networks.fast_dense import Columns, transpose
from jax_ttt.networks.patches import entries_of_patches, patch_values

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
        values = self.filters(patch_values(self.shape, inputs))
        values = values.reshape(*self.bias[...].shape, num_boards)
        return self.activation(values + self.bias[..., None]).reshape(-1, num_boards)
