"""Fixtures of the tests of players."""

import jax
import pytest
import tiny

from jax_ttt.config.settings import Config
from jax_ttt.networks import q_network
from jax_ttt.players import names, registry, saved_agents
from jax_ttt.players.network_player import network_of

CONFIG = Config.of(hidden_size=16, eval_games=0)


@pytest.fixture(scope="module")
def agent_path(tmp_path_factory):
    """Return the file of an untrained agent."""
    path = tmp_path_factory.mktemp("players") / "agent.safetensors"
    params = q_network.init_params(network_of(CONFIG.architecture), jax.random.key(5))
    saved_agents.save_agent(tiny.ungraded(CONFIG, params, seed=5), path)
    return path


@pytest.fixture
def enter():
    """Return a function from a name to its player and its policy."""
    return _enter


def _enter(name):
    spec = names.read_name(name, "tic_tac_toe")
    entrant = registry.make_player(spec, "tic_tac_toe", jax.random.key(0))
    assert entrant.policy is not None
    return entrant.choose, entrant.policy


@pytest.fixture(scope="module")
def deciding(tree):
    """Return the PGX states of all positions to decide."""
    return jax.tree.map(lambda x: x[tree.decisions], tree.env_state)
