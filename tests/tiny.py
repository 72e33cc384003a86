"""Small settings for tests that need any agent.

Programs are compiled per settings, so these tests share their programs. Compilation
takes nearly all of the tests' time.
"""

import functools
from typing import Any

import jax
import numpy as np

from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.networks import q_network
from jax_ttt.players import saved_agents
from jax_ttt.players.saved_agents import Agent

FIELDS: dict[str, Any] = {
    "num_envs": 8,
    "hidden_size": 8,
    "num_updates": 4,
    "eval_every": 2,
    "eval_games": 8,
}
CONFIG = PRESETS["default"].replace(**FIELDS)


def flags(*names):
    """Return the flags of a training command, by default of all fields."""
    return [
        word
        for name in names or FIELDS
        for word in (f"--{name.replace('_', '-')}", str(FIELDS[name]))
    ]


def joined(defaults, flags):
    """Return the default flags that are not among `flags`, followed by these."""
    pairs = zip(defaults[::2], defaults[1::2], strict=True)
    return [*(w for pair in pairs if pair[0] not in flags for w in pair), *flags]


def ungraded(config, params, seed=0):
    """Return an agent of these weights that was neither trained nor graded."""
    return Agent.of(config, params, seed)


def untrained(config):
    """Return an agent of random weights."""
    return ungraded(config, random_params(config.architecture))


@functools.cache
def random_params(architecture, seed=0, scale=0.5):
    """Return random weights of NumPy: to compile a network's own takes far longer."""
    network = saved_agents.network_from(architecture)
    rng = np.random.default_rng(seed)

    def random_weights(leaf):
        weights = rng.normal(0, scale, leaf.shape).astype(leaf.dtype)
        weights.setflags(write=False)  # they are shared
        return weights

    return jax.tree.map(random_weights, q_network.param_shapes(network))


def save_untrained(path, **fields):
    """Save an untrained agent and return its path."""
    config = Config.of(**{"hidden_size": FIELDS["hidden_size"]} | fields)
    path.parent.mkdir(parents=True, exist_ok=True)
    saved_agents.save_agent(untrained(config), path)
    return path
