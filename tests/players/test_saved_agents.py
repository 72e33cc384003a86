"""Saved agents: what is loaded is what was saved.

`tests/faults/test_damaged_files.py` has the files that are refused.
"""

import jax
import made
import numpy as np
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.networks import q_network
from jax_ttt.players import saved_agents
from jax_ttt.players.saved_agents import Agent, network_from

GRADE = made.exact((0.5,), (0.25,))


@pytest.mark.parametrize(
    "fields",
    [
        {"hidden_size": 8},
        {"network": "table"},
        {"network": "table", "table_key": "after-state", "double": False},
    ],
)
def test_what_is_saved_comes_back(fields, tmp_path):
    config = Config.of(**fields)
    shapes = q_network.param_shapes(network_from(config.architecture))
    rng = np.random.default_rng(1)
    params = jax.tree.map(
        lambda x: rng.uniform(-1, 1, x.shape).astype(np.float32), shapes
    )
    agent = Agent.of(config, params, seed=3, num_updates=17, grade=GRADE)
    saved_agents.save_agent(agent, tmp_path / "agent.safetensors")
    loaded = saved_agents.load_agent(tmp_path)  # the folder
    assert (loaded.description, loaded.corrections) == (agent.description, None)
    for saved, leaf in zip(*map(jax.tree.leaves, (params, loaded.params)), strict=True):
        np.testing.assert_array_equal(saved, leaf)
    assert saved_agents.read_env_id(tmp_path / "agent.safetensors") == "tic_tac_toe"
