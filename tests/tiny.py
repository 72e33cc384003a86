"""Small settings for tests that need any agent.

Programs are compiled per settings, so these tests share their programs. Compilation
takes nearly all of the tests' time.
"""

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


def joined(usual, flags):
    """Return the flags with the usual ones before them that are not given again."""
    pairs = zip(usual[::2], usual[1::2], strict=True)
    return [*(w for pair in pairs if pair[0] not in flags for w in pair), *flags]


def save_untrained(path, **fields):
    """Save an untrained agent and return its path."""
    config = Config.of(**{"hidden_size": FIELDS["hidden_size"]} | fields)
    params = q_network.init_params(network_of(config.architecture), jax.random.key(0))
    path.parent.mkdir(parents=True, exist_ok=True)
    agents.save_agent(Agent(config, params, 0, 0), path)
    return path
