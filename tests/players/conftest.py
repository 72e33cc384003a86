"""Fixtures of the tests of players."""

import jax
import pytest
import tiny

from jax_ttt.players import registry


@pytest.fixture(scope="module")
def agent_path(tmp_path_factory):
    """Return the file of an untrained agent."""
    folder = tmp_path_factory.mktemp("players")
    return tiny.save_untrained(folder / "agent.safetensors", hidden_size=16)


@pytest.fixture(scope="session")
def player_of():
    """Return a function from a name to its player."""

    def make(name, env_id="tic_tac_toe", seed=0):
        spec = registry.read_player_name(str(name))
        return registry.make_player(spec, env_id, jax.random.key(seed))

    return make


@pytest.fixture(scope="module")
def undecided(host_tree):
    """Return the PGX states of all positions in which a move must be chosen."""
    return jax.tree.map(lambda x: x[host_tree.decisions], host_tree.env_state)
