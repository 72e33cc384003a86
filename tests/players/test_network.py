"""A network as a player: its best legal move, as a function and as a policy."""

import jax
import jax.numpy as jnp
import numpy as np

from jax_ttt.players import agents, network
from jax_ttt.players.agents import Agent
from jax_ttt.players.network import network_of


def test_the_matrix_of_an_agent_is_its_greedy_policy(enter, agent_path, tree):
    agent = agents.load_agent(agent_path)
    expected = network.greedy_policy(
        network_of(agent.config.architecture), agent.params, tree
    )
    np.testing.assert_array_equal(enter(str(agent_path))[1], expected)


def test_ties_go_to_the_lowest_index(enter, agent_path, tree, tmp_path, deciding):
    agent = agents.load_agent(agent_path)
    flat = jax.tree.map(jnp.zeros_like, agent.params)
    path = tmp_path / "flat.safetensors"
    agents.save_agent(Agent(agent.config, flat, 0, 0), path)
    legal = np.asarray(deciding.legal_action_mask)
    assert (enter(str(path))[1][tree.decisions].argmax(axis=1) == legal.argmax(1)).all()
