"""Saved agents: what is loaded is what was saved.

`tests/faults/test_damaged_files.py` has the files that are refused.
"""

import dataclasses

import jax
import made
import numpy as np
import pytest
import tiny

from jax_ttt.config.settings import Config
from jax_ttt.networks import q_network
from jax_ttt.players import saved_agents
from jax_ttt.players.saved_agents import Agent, network_from
from jax_ttt.solver.corrections import Corrections

CONFIG = Config.of(hidden_size=2, num_updates=2, eval_games=0)
GRADE = made.exact((0.5,), (0.25,))
AGENT = Agent.of(CONFIG, tiny.untrained(CONFIG).params, 7, 2, GRADE)
EMPTY_BOARD = sum(1 << 2 * cell for cell in range(9))


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


def test_corrections_come_back_beside_the_weights(tmp_path):
    path = tmp_path / "agent.safetensors"
    corrections = Corrections(np.array([EMPTY_BOARD], "u8"), np.array([4], "u1"))
    saved_agents.save_agent(dataclasses.replace(AGENT, corrections=corrections), path)
    loaded = saved_agents.load_agent(path)
    assert loaded.corrections is not None
    assert loaded.corrections.keys.tolist() == [EMPTY_BOARD]
    assert loaded.corrections.actions.tolist() == [4]
    assert loaded.corrections.seats("tic_tac_toe") == ["first"]
    assert saved_agents.agent_bytes(loaded) == path.read_bytes()
