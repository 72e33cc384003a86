"""The activations of a network, as the picture of it shows them, computed in Node."""

import itertools

import numpy as np
import pytest
from page_modules import compute

from jax_ttt.config import player_kinds

GAMES = ([], [4], [4, 0, 8], [1, 4, 7], [0, 4, 1, 2], [5, 4, 6, 0, 1])
COUNT = 12


def activate(sums, scale):
    """Return the activations of a layer of integers, 0 to 127."""
    return np.rint(np.clip(sums * np.float32(scale), 0, 127))


def test_the_shown_units_and_values_are_those_of_the_network():
    path = str(player_kinds.ALL["network"])
    result = compute("activations", path=path, games=GAMES, count=COUNT)
    kernels, biases, scales = [], [], []
    for layer in result["weights"]:
        biases.append(np.array(layer["bias"]))
        kernels.append(np.array(layer["kernel"]).reshape(len(biases[-1]), -1))
        scales.append(np.array(layer["scale"]))
    for position in result["positions"]:
        layers, links = position["shown"]["layers"], position["shown"]["links"]
        now = np.zeros(9)
        for unit in layers[0]:
            now[unit["unit"]] = unit["value"]
        assert {unit["unit"] for unit in layers[0]} == set(range(9)), "each square once"
        assert [unit["value"] for unit in layers[0]] == position["stones"]
        for depth, (before, after) in enumerate(itertools.pairwise(layers)):
            kernel = kernels[depth]
            scale = np.broadcast_to(scales[depth], len(kernel))
            amounts = [
                kernel[to["unit"], unit["unit"]] * unit["value"] * scale[to["unit"]]
                for unit in before
                for to in after
            ]
            np.testing.assert_allclose([one["amount"] for one in links[depth]], amounts)
            sums = kernel @ now + biases[depth]
            if depth < len(kernels) - 1:
                now = activate(sums, scale)
                shown = [unit["value"] for unit in after]
                assert shown == sorted(now, reverse=True)[:COUNT]
                assert shown == [now[unit["unit"]] for unit in after]
            else:
                values = np.tanh(sums * scale)
                shown = [unit["value"] for unit in after]
                assert shown == position["values"]
                for unit, value in zip(after, shown, strict=True):
                    expected = pytest.approx(values[unit["unit"]], rel=1e-6)
                    assert value is None or value == expected, (
                        "an illegal move has none"
                    )
