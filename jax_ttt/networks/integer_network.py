"""Networks of small integers, whose values are the same on every machine.

Sums of float32 numbers depend on their order, so another machine may choose another
move where two values are nearly equal, and a proof for one machine is none for another.
A network of integers has activations of 0 to 127, weights of 8 bits (-127 to 127; in
the last layer, whose outputs are compared, 16 bits), and integers as biases. The
largest sum that an output can reach is below `2**24`, up to which float32 holds every
integer (`check` makes sure of it). So each sum is exact in any order: on a CPU or a
GPU, with float32 or bfloat16 factors, in NumPy, in JavaScript. Between two layers come
one multiplication by a scale in float32 and one rounding to the nearest integer, ties
to even, which IEEE 754 defines.

A layer has three tensors: `kernel` int8 `(O, N)`, `bias` int32 `(O)` and `scale`
float32 `(O)`. The activations after a hidden layer are

    clip(round((kernel @ inputs + bias) * scale), 0, 127)

`quantize` makes scales that are powers of two, so the product is exact: the step is a
shift with rounding, and the whole network is integer arithmetic. A file may have other
scales, as `shipped:connect-7x6` has: there the product is rounded to float32, once.

A convolution's bias differs by patch, `(O, P)`. The last layer has a kernel of int16
and one scale, `()`, but neither rounding nor limits: its integers are the scores that a
player compares, and `tanh(scores * scale)` are the action values that people see.

Source of the rounding: Jacob et al. 2018, "Quantization and training of neural networks
for efficient integer-arithmetic-only inference".

Axes: `B` boards, `H W C` planes, `N` inputs of a layer, `O` its outputs, `P` patches of
a board, `V` values of a board.
"""

import functools
from collections.abc import Callable, Mapping

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax.typing import DTypeLike
from jaxtyping import Array, Float

from jax_ttt.config.settings import Architecture
from jax_ttt.networks.fast_dense import transpose
from jax_ttt.networks.patches import patch_values
from jax_ttt.runtime import devices, pytrees

LARGEST = 127
"""The largest activation, and the largest weight of a hidden layer."""
_EXACT = 2**24
"""float32 holds every integer up to this one."""
_BLOCK = 512
"""Boards that are computed together: their activations stay in a core's cache, which
halves the time on a CPU."""
_QUANTILE = 0.9999
"""The quantile of a layer's positive activations that becomes the largest integer."""


def is_integer(params: nnx.State) -> bool:
    """Return whether these are the weights of a network of integers."""
    leaves = jax.tree.leaves(params)
    return any(jnp.issubdtype(leaf.dtype, jnp.integer) for leaf in leaves)


def reason_not_possible(architecture: Architecture) -> str:
    """Return why such a network can't be made of integers; or empty."""
    if architecture.own is not None:
        return "a network of your own has no integers"
    if architecture.is_table:
        return "a table has no products to round"
    if architecture.activation != "relu":
        return f"a network of integers needs relu, not {architecture.activation}"
    return ""


def integer_shapes(float_shapes: nnx.State) -> nnx.State:
    """Return the shapes and dtypes of the integers for a network's float weights."""

    def layer(
        kernel: jax.Array | jax.ShapeDtypeStruct,
        bias: jax.Array | jax.ShapeDtypeStruct,
        *,
        is_last: bool,
    ) -> dict:
        scale_shape = () if is_last else kernel.shape[:1]
        return {
            "kernel": jax.ShapeDtypeStruct(kernel.shape, _kernel_dtype(is_last)),
            "bias": jax.ShapeDtypeStruct(bias.shape, jnp.int32),
            "scale": jax.ShapeDtypeStruct(scale_shape, jnp.float32),
        }

    return _map_layers(layer, float_shapes)


def _kernel_dtype(is_last: bool) -> DTypeLike:
    return jnp.int16 if is_last else jnp.int8


def _map_layers(layer_fn: Callable[..., dict], params: nnx.State) -> nnx.State:
    """Return a function's result for each layer, in order, as a pytree.

    `layer_fn` takes the kernel, the bias, and whether the layer is the last one.
    """
    leaves = pytrees.leaves_by_name(params)
    layers: dict[str, dict] = {}
    if "convolution.bias" in leaves:
        layers["convolution"] = layer_fn(
            leaves["convolution.filters.kernel"],
            leaves["convolution.bias"],
            is_last=False,
        )
    # The float network's list has an activation after each layer.
    places = sorted(
        int(name.split(".")[2])
        for name in leaves
        if name.endswith(".kernel")
        if name.startswith("layers.")
    )
    for number, place in enumerate(places):
        layers[f"layer{number}"] = layer_fn(
            leaves[f"layers.layers.{place}.kernel"],
            leaves[f"layers.layers.{place}.bias"],
            is_last=place == places[-1],
        )
    return nnx.State(layers)


def quantize(
    shape: tuple[int, int, int],
    params: nnx.State,
    planes: Float[np.ndarray, "B H W C"],
) -> nnx.State:
    """Return the network of integers nearest to a network with relu.

    Each hidden layer's activations are scaled so that `_QUANTILE` of the positive ones
    on these boards are at most 127, and each of its outputs has as `scale` the least
    power of two with which no weight passes 127. The last layer's outputs share a
    scale, since they are compared: the finest one whose sums stay exact. `shape` is
    `(H, W, C)`; the planes hold integers.
    """
    inputs = planes.reshape(len(planes), -1).T  # (N, B)
    input_scale = 1.0

    def layer(kernel: pytrees.Leaf, bias: pytrees.Leaf, *, is_last: bool) -> dict:
        nonlocal inputs, input_scale
        weights, offsets = np.asarray(kernel, float), np.asarray(bias, float)
        if is_last:
            # 1% is left for the rounding of the weights.
            sums = LARGEST * np.abs(weights).sum(axis=1) + np.abs(offsets) / input_scale
            most = np.abs(weights).max() / np.iinfo(np.int16).max
            weight_scale = np.asarray(max(sums.max() / (0.99 * _EXACT), most) or 1.0)
            scale = unit = weight_scale * np.asarray(input_scale)
        else:
            if offsets.ndim > 1:
                inputs = patch_values(shape, inputs)
            sums = (weights @ inputs).reshape(*offsets.shape, -1) + offsets[..., None]
            outputs = np.maximum(sums, 0).reshape(-1, sums.shape[-1])
            positive = outputs[outputs > 0]
            top = np.quantile(positive, _QUANTILE) if len(positive) else 1.0
            output_scale = top / LARGEST
            largest = np.abs(weights).max(axis=1)
            # An output without weights has any scale.
            finest = np.where(largest > 0, largest, LARGEST) / LARGEST
            scale = _powers_of_two(finest * input_scale / output_scale)
            unit = scale * output_scale
            weight_scale = unit / input_scale
            inputs, input_scale = outputs.astype(np.float32), output_scale
        # An integer sum of 1 stands for `unit`: one for each output, or one for all.
        integers = np.rint((weights.T / weight_scale).T)
        biases = np.rint((offsets.T / unit).T)
        return {
            "kernel": integers.astype(_kernel_dtype(is_last)),
            "bias": biases.astype(np.int32),
            "scale": scale.astype(np.float32),
        }

    integer_params = _map_layers(layer, params)
    check_integers(integer_params)
    return jax.device_put(integer_params)


def _powers_of_two(numbers: Float[np.ndarray, " O"]) -> Float[np.ndarray, " O"]:
    """Return the least powers of two that are not below these numbers."""
    fractions, exponents = np.frexp(numbers)  # fractions from 0.5, below 1
    return np.ldexp(1.0, exponents - (fractions == 0.5))


def check_integers(params: nnx.State) -> None:
    """Raise `ValueError` unless every sum of these weights is exact in float32."""
    for name, layer in params.items():
        weights = np.abs(np.asarray(layer["kernel"], np.int64)).sum(axis=1)
        bias = np.abs(np.asarray(layer["bias"], np.int64)).reshape(len(weights), -1)
        largest = (LARGEST * weights + bias.max(axis=1)).max()
        if largest >= _EXACT:
            raise ValueError(
                f"sums of {name} can reach {largest:,}: float32 is exact to {_EXACT:,}"
            )
        scale = np.asarray(layer["scale"])
        if not (np.isfinite(scale) & (scale > 0)).all():
            raise ValueError(f"the scales of {name} must be above 0")


def scores(
    shape: tuple[int, int, int],
    params: nnx.State,
    planes: Float[Array, "B H W C"],
) -> Float[Array, "B V"]:
    """Return the integers of the last layer."""
    num_boards = len(planes)
    if num_boards <= _BLOCK or num_boards % _BLOCK:
        return _block_scores(shape, params, planes)
    blocks = planes.reshape(-1, _BLOCK, *planes.shape[1:])
    block_scores = functools.partial(_block_scores, shape, params)
    return jax.lax.map(block_scores, blocks).reshape(num_boards, -1)


def _block_scores(
    shape: tuple[int, int, int],
    params: nnx.State,
    planes: Float[Array, "B H W C"],
) -> Float[Array, "B V"]:
    """Return the integers of the last layer for boards that are computed together."""
    inputs = transpose(planes.reshape(planes.shape[0], -1))
    *hidden, last = in_order(params)
    for layer in hidden:
        if layer["bias"].ndim > 1:
            inputs = patch_values(shape, inputs)
        sums = _sums(layer, inputs)
        scale = layer["scale"].reshape(-1, *(1,) * (sums.ndim - 1))
        rounded = jnp.round(sums * scale)  # ties to even
        inputs = jnp.clip(rounded, 0, LARGEST).reshape(-1, sums.shape[-1])
    return transpose(_sums(last, inputs))


def values(params: nnx.State, scores: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """Return the action values, -1 to 1, that these scores stand for."""
    *_, last = in_order(params)
    return jnp.tanh(scores * last["scale"])


def in_order(params: nnx.State) -> list[Mapping[str, jax.Array]]:
    """Return the layers from the first to the last.

    JAX orders the names of a pytree as texts, `layer10` before `layer2`.
    """
    names = sorted(params, key=lambda name: (len(name), name))
    if "convolution" in params:  # it comes first, and its name is the longest
        names.insert(0, names.pop())
    return [params[name] for name in names]


def _sums(
    layer: Mapping[str, jax.Array], inputs: Float[Array, "N PB"]
) -> Float[Array, "O *P B"]:
    """Return the sums of a layer, integers, before its scale."""
    # Both dtypes hold factors of 8 bits, and the sums are float32, so the results are
    # equal. bfloat16 is three times as fast on a CPU that has instructions for it.
    is_small = layer["kernel"].dtype == jnp.int8
    on_cpu = devices.current_device().platform == "cpu"
    has_bfloat16 = on_cpu and devices.has_bfloat16()
    dtype = jnp.bfloat16 if is_small and has_bfloat16 else jnp.float32
    products = jax.lax.dot_general(
        layer["kernel"].astype(dtype),
        inputs.astype(dtype),
        dimension_numbers=(((1,), (0,)), ((), ())),
        precision=jax.lax.Precision.HIGHEST,
        preferred_element_type=jnp.float32,
    )
    bias = layer["bias"].astype(jnp.float32)[..., None]
    return products.reshape(*layer["bias"].shape, -1) + bias
