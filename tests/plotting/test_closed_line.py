"""A line is followed until the agent plays another move; then it plays both sides."""

import jax
import pytest

from jax_ttt.config.presets import PRESETS
from jax_ttt.networks import q_network
from jax_ttt.networks.q_network import Network
from jax_ttt.players.agents import Agent
from jax_ttt.plotting.closed_line import closed

CONFIG = PRESETS["connect-4x4"].replace(hidden_size=8)


@pytest.fixture(scope="module")
def agent():
    """Return an agent of which every value is 0: it plays the leftmost open column."""
    network = Network(CONFIG.architecture)
    params = q_network.init_params(network, jax.random.key(0))
    zeros = jax.tree.map(lambda x: 0 * x, params)
    return Agent(CONFIG, zeros, 0, 0)


def columns(states):
    """Return the number of stones in each column of the last board."""
    stones = states[-1].observation.any(axis=-1)
    return stones.sum(axis=0).tolist()


def test_the_agent_leaves_the_line_in_its_own_seat_only(agent):
    # The second player wins with a row at the bottom.
    line = [0, 3, 0, 2, 0, 1]
    kept, states = closed(agent, "first", [*line, 1, 0])
    assert kept == 6, "the agent would play the last cell of column 0"
    assert len(states) > 7
    assert columns(states[:8])[:2] == [4, 1]
    assert states[-1].terminated


def test_the_second_player_leaves_at_its_first_move(agent):
    kept, states = closed(agent, "second", [0, 3, 0, 2])
    assert kept == 1
    assert columns(states[:3]) == [2, 0, 0, 0]


def test_a_line_that_the_agent_plays_is_its_game(agent):
    """Its opponent wins with columns 1, as the agent never leaves column 0."""
    line = [1, 0, 1, 0, 1, 0, 1]
    kept, states = closed(agent, "second", line)
    assert (kept, len(states)) == (7, 8)
    assert states[-1].terminated
    assert columns(states) == [3, 4, 0, 0]
