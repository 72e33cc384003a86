"""The speed of training with the fast dense layer, compared with `nnx.Linear`.

python -m tools.benchmarks.dense_layers article --precision float32

Each measurement has a process of its own, as JAX keeps what it traced with a layer.

Axes: `B` boards, `H W C` planes, `V` values of a board.
"""

import argparse
import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from unittest import mock

import jax
import jax.numpy as jnp
from flax import nnx
from jax.typing import DTypeLike
from jaxtyping import Array, Float

from jax_ttt.config.choices import Activation
from jax_ttt.config.presets import PRESETS
from jax_ttt.networks import q_network
from jax_ttt.networks.mlp import ACTIVATIONS, MLP
from tools.benchmarks import updates
from tools.benchmarks.timing import Timed, in_turn, ratios, show

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


def main(argv: Sequence[str] | None) -> int:
    """Print the rates of both layers, measured in turn, and their ratio."""
    parser = argparse.ArgumentParser(prog="python -m tools.benchmarks.dense_layers")
    parser.add_argument("preset", choices=NUM_UPDATES)
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--layer", choices=NETWORKS, help="print only its seconds")
    args = parser.parse_args(argv)
    if args.layer:
        timed = measure(args.preset, args.precision, args.layer)
        print(json.dumps([timed.wall, timed.cpu]))
        return 0
    wall: dict[str, list[float]] = {layer: [] for layer in NETWORKS}
    cpu: dict[str, list[float]] = {layer: [] for layer in NETWORKS}
    for _ in range(args.pairs):
        for layer in NETWORKS:
            options = [args.preset, "--precision", args.precision, "--layer", layer]
            command = [sys.executable, "-m", "tools.benchmarks.dense_layers", *options]
            output = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
            for seconds, rounds in zip((wall, cpu), json.loads(output), strict=True):
                seconds[layer].append(sorted(rounds)[NUM_ROUNDS // 2])
    count = NUM_UPDATES[args.preset]
    for layer in NETWORKS:
        show(layer, [count / s for s in wall[layer]], "updates/s", 0)
        show(f"{layer}, CPU time", [1000 * s / count for s in cpu[layer]], "ms", 3)
    for name, seconds in (("wall", wall), ("CPU", cpu)):
        times = ratios(seconds["fast"], seconds["nnx.Linear"])
        show(f"fast, share of the {name} time of nnx.Linear", times, "")
    return 0


def measure(preset: str, precision: str, layer: str) -> Timed:
    """Return the seconds of `NUM_UPDATES` updates with this layer, in each round."""
    config = PRESETS[preset].replace(precision=precision)
    with mock.patch.object(q_network, "MLP", NETWORKS[layer]):
        run = updates.fused(config, NUM_UPDATES[preset])
        (timed,) = in_turn([run], NUM_ROUNDS)
    return timed


if __name__ == "__main__":
    sys.exit(main(None))
