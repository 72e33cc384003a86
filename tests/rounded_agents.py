"""Agents made on purpose: what their network says of one board depends on rounding.

Such a network is a good one and some more units. They are 0 on every board but one.
There, one of them is the sum of numbers that add up to 0: what remains is rounding,
which differs with the order of the sum, so with the number of boards of a program. It
decides about a bad move.
"""

import dataclasses

import jax
import numpy as np

from jax_ttt.networks import q_network
from jax_ttt.players import saved_agents
from jax_ttt.runtime import pytrees

NUM_NUMBERS = 16
SIZE = 1e3
"""The size of the sum's largest numbers: their rounding is 6e-5."""


def as_floats(agent):
    """Return a network of floats near a network of integers without filters."""
    weights = saved_agents.params_as_tensors(agent.params)
    arrays = {}
    for number in range(agent.config.hidden_layers + 1):
        scale = weights[f"layer{number}.scale"]
        for part in ("kernel", "bias"):
            array = (weights[f"layer{number}.{part}"].T * scale).T
            arrays[f"layers.layers.{2 * number}.{part}"] = array.astype(np.float32)
    shapes = q_network.param_shapes(agent.network)
    params = pytrees.with_leaves(shapes, jax.device_put(arrays))
    return saved_agents.Agent(agent.description, params)


def rounding_decides(agent, planes, action, seed):
    """Return the agent, whose value of the action on one board is a matter of rounding.

    `planes` are the board's, as the network sees it, and `action` is the action there.
    """
    weights = saved_agents.params_as_tensors(agent.params)
    kernels, biases = (
        [weights[f"layers.layers.{layer}.{name}"] for layer in (0, 2, 4)]
        for name in ("kernel", "bias")
    )
    numbers = np.random.default_rng(seed).standard_normal(NUM_NUMBERS)
    numbers = numbers.astype(np.float32)
    eye = np.eye(len(planes), dtype=np.float32)
    stones = np.concatenate([eye, -eye])  # units that see a stone at a place
    is_here = np.concatenate([planes, -planes]) > 0
    size = len(biases[0]) + len(stones) + NUM_NUMBERS
    old = slice(len(biases[0]))
    new = slice(old.stop, old.stop + len(stones))

    def padded(array, *shape):
        return np.pad(
            array, [(0, n - m) for n, m in zip(shape, array.shape, strict=True)]
        )

    first = padded(kernels[0], size, len(planes))
    first[new] = stones
    first_bias = padded(biases[0], size)
    first_bias[new.stop :] = 1
    second = padded(kernels[1], size, size)
    second[old.stop, new] = np.where(is_here, SIZE, -SIZE)
    second[old.stop, new.stop :] = numbers
    second_bias = padded(biases[1], size)
    second_bias[old.stop] = -(SIZE * is_here.sum() + numbers.astype(float).sum())
    last = padded(kernels[2], len(biases[2]), size)
    last[action, old.stop] = 1e6
    arrays = {
        "layers.layers.0.kernel": first,
        "layers.layers.0.bias": first_bias,
        "layers.layers.2.kernel": second,
        "layers.layers.2.bias": second_bias,
        "layers.layers.4.kernel": last,
        "layers.layers.4.bias": biases[2],
    }
    config = agent.config.replace(hidden_size=size)
    shapes = q_network.param_shapes(saved_agents.network_from(config.architecture))
    params = pytrees.with_leaves(shapes, jax.device_put(arrays))
    description = dataclasses.replace(agent.description, config=config)
    return saved_agents.Agent(description, params)
