"""The CPU time of training with the fast dense layer, compared with `nnx.Linear`.

python -m tools.dense_layers article --precision float32

Each measurement runs in a new process, since JAX caches what it traced with a layer.

Axes: `B` boards, `H W C` planes, `V` values of a board.
"""

import dataclasses
import itertools
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Literal
from unittest import mock

import jax
import jax.numpy as jnp
import tyro
from flax import nnx
from jax.typing import DTypeLike
from jaxtyping import Array, Float

from jax_ttt.config.presets import PRESETS, Preset
from jax_ttt.config.settings import Activation, Precision
from jax_ttt.networks import q_network
from jax_ttt.networks.mlp import ACTIVATIONS, MLP
from tools.benchmarks import updates
from tools.benchmarks.timing import in_turn, ratios, show

NUM_UPDATES = {"article": 180, "default": 1800}
"""Updates in a round, by the preset."""
NUM_ROUNDS = 5
"""Rounds of a process; their median counts."""


class PlainMLP(nnx.Module):
    """A perceptron of `nnx.Linear`, with the batch axis first; it has no filters.

    Sums and outputs of the layers are float32, as ours. Rounded to bfloat16 too, an
    update of `article` takes 1.7 times as long.
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
        if num_filters:
            raise ValueError("a plain perceptron has no filters")
        layers: list[Callable[[jax.Array], jax.Array]] = []
        sizes = (height * width * channels, *hidden_sizes, num_values)
        for num_in, num_out in itertools.pairwise(sizes):
            linear = nnx.Linear(
                num_in,
                num_out,
                dtype=dtype,
                preferred_element_type=jnp.float32,
                rngs=rngs,
            )
            layers += [linear, ACTIVATIONS[activation]]
        self.layers = nnx.Sequential(*layers[:-1], nnx.tanh)

    def __call__(self, planes: Float[Array, "B H W C"]) -> Float[Array, "B V"]:
        """Return the values, -1 to 1."""
        return self.layers(planes.reshape(len(planes), -1))


NETWORKS = {"fast": MLP, "nnx.Linear": PlainMLP}
"""The networks by the name of their layer."""


@dataclasses.dataclass(frozen=True)
class Args:
    """Measure the CPU time of an update with each layer, in turn."""

    preset: tyro.conf.Positional[Literal["article", "default"]]
    """The preset that is trained."""
    precision: Precision = "auto"
    """dtype of the matrix products."""
    pairs: int = 5
    """Processes of each layer."""
    layer: Literal["fast", "nnx.Linear"] | None = None
    """Measure only this layer, in this process, and print its CPU milliseconds."""


def main(argv: Sequence[str] | None) -> int:
    """Print the CPU time of an update with each layer, measured in turn."""
    args = tyro.cli(Args, args=argv, prog="python -m tools.dense_layers")
    if args.layer:
        print(update_ms(args.preset, args.precision, args.layer))
        return 0
    times: dict[str, list[float]] = {layer: [] for layer in NETWORKS}
    for _ in range(args.pairs):
        for layer in NETWORKS:
            options = [args.preset, "--precision", args.precision, "--layer", layer]
            command = [sys.executable, "-m", "tools.dense_layers", *options]
            child = subprocess.run(command, stdout=subprocess.PIPE, check=True)
            times[layer].append(float(child.stdout))
    for layer in NETWORKS:
        show(f"an update of {args.preset}, {layer}", times[layer], "CPU ms", 3)
    show("the share of fast", ratios(times["fast"], times["nnx.Linear"]), "")
    return 0


def update_ms(preset: Preset, precision: Precision, layer: str) -> float:
    """Return the CPU milliseconds of an update with this layer."""
    config = PRESETS[preset].replace(precision=precision)
    num_updates = NUM_UPDATES[preset]
    with mock.patch.object(q_network, "MLP", NETWORKS[layer]):
        (timed,) = in_turn([updates.fused(config, num_updates)], NUM_ROUNDS)
    return 1000 * statistics.median(timed.cpu) / num_updates


if __name__ == "__main__":
    sys.exit(main(None))
