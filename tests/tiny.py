"""Small settings for tests that need any agent.

Programs are compiled per settings, so these tests share their programs. Compilation
takes nearly all of the tests' time.
"""

import functools

import jax

from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.networks import q_network
from jax_ttt.players import agents
from jax_ttt.players.agents import Agent
from jax_ttt.players.network import network_of

FIELDS = {
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


def untrained(config):
    """Return an agent of new weights."""
    params = jax.tree.map(lambda x: x, _init_params(config.architecture))
    return Agent(config, params, 0, 0)


@functools.cache
def _init_params(architecture):
    """Return the weights of seed 0, by one program in place of one per operation."""
    init_params = jax.jit(q_network.init_params)
    return init_params(network_of(architecture), jax.random.key(0))


def save_untrained(path, **fields):
    """Save an untrained agent and return its path."""
    config = Config.of(**{"hidden_size": FIELDS["hidden_size"]} | fields)
    path.parent.mkdir(parents=True, exist_ok=True)
    agents.save_agent(untrained(config), path)
    return path
