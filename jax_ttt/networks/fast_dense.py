"""A dense layer for CPUs: `nnx.Linear` with other memory layouts of the same products.

It computes what `nnx.Linear` computes. XLA's CPU backend is slow with some layouts that
`nnx.Linear` and its gradient use, and does not choose others by itself. Here:

- Boards are in columns, the batch axis last. A product is then `kernel @ inputs`.
- A kernel is kept as `(outputs, inputs)`, so the forward pass transposes nothing.
- `affine` has its own gradient: it rounds the gradient of the outputs to `dtype` once,
  for both products and for the bias.
- `transpose` is row-major in memory. XLA would make it column-major, and convert both
  operands of its product from bfloat16 to float32.

Axes: `B` boards, `I` inputs, `O` outputs, `M N` rows and columns of a matrix.
"""

import functools
from typing import TypeAlias

import jax
import jax.numpy as jnp
from flax import nnx
from jax.typing import DTypeLike
from jaxtyping import Array, Float


class Columns(nnx.Module):
    """A dense layer with the batch axis last; it starts with `nnx.Linear`'s weights.

    `dtype` is the dtype of the matrix products.
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
        linear = nnx.Linear(num_in, num_out, use_bias=use_bias, rngs=rngs)
        self.kernel = nnx.Param(linear.kernel[...].T)
        self.bias = linear.bias
        self.dtype = dtype

    def __call__(self, inputs: Float[Array, "I B"]) -> Float[Array, "O B"]:
        """Return the outputs, float32 with any `dtype`."""
        bias = None if self.bias is None else self.bias[...]
        return affine(self.kernel[...], bias, inputs, self.dtype)


@functools.partial(jax.custom_vjp, nondiff_argnums=(3,))
def affine(
    kernel: Float[Array, "O I"],
    bias: Float[Array, " O"] | None,
    inputs: Float[Array, "I B"],
    dtype: DTypeLike,
) -> Float[Array, "O B"]:
    """Return `kernel @ inputs + bias`, with float32 sums.

    The operands of the product are rounded to `dtype`.
    """
    outputs = _contract(kernel, inputs, (1, 0), dtype)
    return outputs if bias is None else outputs + bias[:, None]


_Saved: TypeAlias = tuple[jax.Array, jax.Array | None, jax.Array]
"""The kernel, the bias and the inputs."""


def _affine_forward(
    kernel: jax.Array, bias: jax.Array | None, inputs: jax.Array, dtype: DTypeLike
) -> tuple[jax.Array, _Saved]:
    return affine(kernel, bias, inputs, dtype), (kernel, bias, inputs)


def _affine_backward(
    dtype: DTypeLike, saved: _Saved, grads: Float[Array, "O B"]
) -> tuple[Float[Array, "O I"], Float[Array, " O"] | None, Float[Array, "I B"]]:
    kernel, bias, inputs = saved
    # The bias takes rounded gradients too: unrounded ones make an update 7% slower.
    grads = grads.astype(dtype)
    return (
        _contract(grads, inputs, (1, 1), dtype),
        None if bias is None else grads.astype(jnp.float32).sum(axis=1),
        _contract(transpose(kernel), grads, (1, 0), dtype),
    )


affine.defvjp(_affine_forward, _affine_backward)


@jax.custom_vjp
def transpose(matrix: Float[Array, "M N"]) -> Float[Array, "N M"]:
    """Return the transpose, in row-major order in memory; so is its gradient.

    The reshape to `(1, N, M)` makes it row-major. The barrier stops XLA from removing
    the reshape and the transpose: it would contract both first axes instead, which
    takes 1.2 to 1.9 times as long.
    """
    return jax.lax.optimization_barrier(matrix.T[None])[0]


def _transpose_forward(matrix: jax.Array) -> tuple[jax.Array, None]:
    return transpose(matrix), None


def _transpose_backward(_: None, grads: jax.Array) -> tuple[jax.Array]:
    return (transpose(grads),)


transpose.defvjp(_transpose_forward, _transpose_backward)


def _contract(
    a: jax.Array, b: jax.Array, axes: tuple[int, int], dtype: DTypeLike
) -> jax.Array:
    """Contract one axis of each array; the sums are float32."""
    # With the default precision, a GPU or TPU rounds float32 to fewer bits.
    precision = jax.lax.Precision.HIGHEST if dtype == jnp.float32 else None
    return jax.lax.dot_general(
        a.astype(dtype),
        b.astype(dtype),
        dimension_numbers=((axes[:1], axes[1:]), ((), ())),
        precision=precision,
        preferred_element_type=jnp.float32,
    )
