"""The multilayer perceptron, with matrix products that are fast on a CPU.

Axes: `B` boards, `H W C` planes, `I` inputs, `O` outputs, `V` values of a board.
"""

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import TypeAlias

import jax
import jax.numpy as jnp
from flax import nnx
from jax.typing import DTypeLike
from jaxtyping import Array, Float

from jax_ttt.config.choices import Activation


class Columns(nnx.Linear):
    """A linear layer with the batch axis last; it starts with `nnx.Linear`'s weights.

    The batch axis last makes an update of 256 or of 2,048 boards about 7 % faster, on
    two cores with AVX-512. So does the kernel as `(O, I)`: the forward pass needs no
    transpose. `dtype` is the dtype of the matrix products.
    """

    def __init__(
        self,
        num_in: int,
        num_out: int,
        dtype: DTypeLike,
        rngs: nnx.Rngs,
        *,
        use_bias: bool = True,
    ) -> None:
        super().__init__(num_in, num_out, use_bias=use_bias, dtype=dtype, rngs=rngs)
        self.kernel = nnx.Param(self.kernel[...].T)

    def __call__(self, inputs: Float[Array, "I B"]) -> Float[Array, "O B"]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the outputs, float32 with any `dtype`."""
        dtype = jnp.float32 if self.dtype is None else self.dtype
        bias = None if self.bias is None else self.bias[...]
        return affine(self.kernel[...], bias, inputs, dtype)


@functools.partial(jax.custom_vjp, nondiff_argnums=(3,))
def affine(
    kernel: Float[Array, "O I"],
    bias: Float[Array, " O"] | None,
    inputs: Float[Array, "I B"],
    dtype: DTypeLike,
) -> Float[Array, "O B"]:
    """Return `kernel @ inputs + bias`, with float32 sums.

    The operands of the product are rounded to `dtype`. The gradient of the outputs is
    rounded once, for both products and for the bias.
    """
    outputs = _contract(kernel, inputs, (1, 0), dtype)
    return outputs if bias is None else outputs + bias[:, None]


_Saved: TypeAlias = tuple[jax.Array, jax.Array | None, jax.Array]


def _forward(
    kernel: jax.Array, bias: jax.Array | None, inputs: jax.Array, dtype: DTypeLike
) -> tuple[jax.Array, _Saved]:
    return affine(kernel, bias, inputs, dtype), (kernel, bias, inputs)


def _backward(
    dtype: DTypeLike, saved: _Saved, grads: Float[Array, "O B"]
) -> tuple[Float[Array, "O I"], Float[Array, " O"] | None, Float[Array, "I B"]]:
    kernel, bias, inputs = saved
    # The bias takes rounded gradients too: unrounded ones make an update 7 % slower.
    grads = grads.astype(dtype)
    return (
        _contract(grads, inputs, (1, 1), dtype),
        None if bias is None else grads.astype(jnp.float32).sum(axis=1),
        _contract(transpose(kernel), grads, (1, 0), dtype),
    )


affine.defvjp(_forward, _backward)


@jax.custom_vjp
def transpose(matrix: Float[Array, "M N"]) -> Float[Array, "N M"]:
    """Return the transpose, in row-major order in memory; so is its gradient.

    XLA makes a transpose column-major, and its CPU backend then widens bfloat16 to
    float32 for the product. A reshape makes it row-major; without the barrier, XLA
    would undo both, and contract both first axes, 1.2 to 1.9 times as slow.
    """
    return jax.lax.optimization_barrier(matrix.T[None])[0]


transpose.defvjp(lambda m: (transpose(m), None), lambda _, grads: (transpose(grads),))


def _contract(
    a: jax.Array, b: jax.Array, axes: tuple[int, int], dtype: DTypeLike
) -> jax.Array:
    """Contract one axis of each array; the sums are float32."""
    numbers = (axes[:1], axes[1:]), ((), ())
    a, b = a.astype(dtype), b.astype(dtype)
    # With the default precision, a GPU or TPU rounds float32 to fewer bits.
    exact = jax.lax.Precision.HIGHEST if dtype == jnp.float32 else None
    return jax.lax.dot_general(
        a, b, numbers, precision=exact, preferred_element_type=jnp.float32
    )


ACTIVATIONS = {"relu": nnx.relu, "tanh": nnx.tanh, "sigmoid": nnx.sigmoid}


class MLP(nnx.Module):
    """A multilayer perceptron; its final tanh keeps values in the range of rewards.

    `sizes` are those of all layers, input and output included; `convolution` is a layer
    before them. `dtype` is the dtype of the matrix products.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        activation: Activation,
        rngs: nnx.Rngs,
        dtype: DTypeLike = jnp.float32,
        convolution: nnx.Module | None = None,
    ) -> None:
        parts: list[Callable] = []
        for num_in, num_out in itertools.pairwise(sizes):
            parts.append(Columns(num_in, num_out, dtype=dtype, rngs=rngs))
            parts.append(ACTIVATIONS[activation])
        self.convolution = convolution
        self.layers = nnx.Sequential(*parts[:-1], nnx.tanh)

    def __call__(self, planes: Float[Array, "B H W C"]) -> Float[Array, "B V"]:
        """Return the values, -1 to 1."""
        inputs = transpose(planes.reshape(planes.shape[0], -1))
        if self.convolution is not None:
            inputs = self.convolution(inputs)
        return transpose(self.layers(inputs))
