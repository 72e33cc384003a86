"""The multilayer perceptron.

Axes: `B` boards, `H W C` planes, `V` values of a board.
"""

import itertools
from collections.abc import Callable, Sequence

import jax
from flax import nnx
from jax.typing import DTypeLike
from jaxtyping import Array, Float

from jax_ttt.config.settings import Activation
from jax_ttt.networks.convolution import Convolution
from jax_ttt.networks.fast_dense import Columns, transpose

ACTIVATIONS: dict[Activation, Callable[[jax.Array], jax.Array]] = {
    "relu": nnx.relu,
    "tanh": nnx.tanh,
    "sigmoid": nnx.sigmoid,
}
"""The activation functions by their names in `--activation`."""


class MLP(nnx.Module):
    """A multilayer perceptron; its final tanh keeps values in the range of rewards.

    `shape` is that of the planes, `(H, W, C)`. With `num_filters`, a convolution comes
    before the hidden layers. `dtype` is the dtype of the matrix products.
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
