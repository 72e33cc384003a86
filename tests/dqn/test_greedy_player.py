"""Which of several equal moves a network's greedy player chooses."""

import jax
import numpy as np
import pytest
import tiny

from jax_ttt.config.settings import Config
from jax_ttt.dqn import greedy_player
from jax_ttt.games.played_game import Game
from jax_ttt.players import saved_agents, search_players


def flat_network(env_id, canonical=True):
    """Return a network that gives all moves the same value, with its weights."""
    architecture = Config.of(env_id=env_id, canonical=canonical).architecture
    weights = tiny.random_params(architecture, scale=0.0)
    return saved_agents.network_from(architecture), weights


def test_of_equal_moves_a_mirrored_board_gets_the_mirrored_one_if_it_is_canonical():
    """The stone is in the canonical board's right half, and 0 is its lowest column."""
    network, params = flat_network("connect_4x4")
    assert greedy_player.is_symmetric(network)
    greedy = jax.jit(greedy_player.GreedyPlayer(network, params))
    searching = jax.jit(search_players.lookahead_player(network, params, 1.0, 1))
    for column, reply in ((0, 3), (1, 3), (2, 0), (3, 0)):
        state = Game.start("connect_4x4", [column]).state
        for player in (greedy, searching):
            assert player(jax.random.key(0), state).tolist() == [reply]
    network, params = flat_network("connect_4x4", canonical=False)
    lowest = jax.jit(greedy_player.GreedyPlayer(network, params))
    for column in (0, 3):
        state = Game.start("connect_4x4", [column]).state
        assert lowest(jax.random.key(0), state).tolist() == [0]


@pytest.mark.parametrize("value", [0.0, float("nan")])
@pytest.mark.parametrize(("full", "other", "reply"), [(0, 3, 1), (3, 0, 2)])
def test_of_equal_moves_a_legal_one_is_played(full, other, reply, value):
    """Also if no value is a number. The canonical board's column 0 is full."""
    network, _ = flat_network("connect_4x4")
    state = Game.start("connect_4x4", [full, full, full, full, other]).state
    values = np.full((1, 4), value, np.float32)
    greedy = jax.jit(greedy_player.greedy_actions)
    assert greedy(network, state, values).tolist() == [reply]
