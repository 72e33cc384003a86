"""A network's greedy player: its best legal move, as a function and as a policy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiny

from jax_ttt.config.settings import Config
from jax_ttt.games.game import Game
from jax_ttt.networks import q_network
from jax_ttt.players import lookahead, network_player, saved_agents
from jax_ttt.players.network_player import network_of


def test_the_lowest_of_equal_moves_is_played(
    enter, agent_path, tree, tmp_path, deciding
):
    agent = saved_agents.load_agent(agent_path)
    flat = jax.tree.map(jnp.zeros_like, agent.params)
    path = tmp_path / "flat.safetensors"
    saved_agents.save_agent(tiny.ungraded(agent.config, flat), path)
    legal = np.asarray(deciding.legal_action_mask)
    assert (enter(str(path))[1][tree.decisions].argmax(axis=1) == legal.argmax(1)).all()


def flat_network(env_id, canonical=True):
    """Return a network that gives all moves the same value, with its weights."""
    config = Config.of(env_id=env_id, hidden_size=4, canonical=canonical)
    own = network_of(config.architecture)
    params = q_network.init_params(own, jax.random.key(0))
    return own, jax.tree.map(jnp.zeros_like, params)


def test_of_equal_moves_a_mirror_image_gets_the_same():
    """The stone is in the canonical board's right half, and 0 is its lowest column."""
    own, params = flat_network("connect_4x4")
    greedy = jax.jit(network_player.greedy_player(own, params))
    searching = jax.jit(lookahead.lookahead_player(own, params, 1.0, 1))
    for column, reply in ((0, 3), (1, 3), (2, 0), (3, 0)):
        state = Game.start("connect_4x4", [column]).state
        for player in (greedy, searching):
            assert player(jax.random.key(0), state).tolist() == [reply]


def test_a_canonical_network_is_symmetric_where_equal_moves_are_too():
    assert network_player.is_symmetric(flat_network("connect_4x4")[0])
    assert not network_player.is_symmetric(
        flat_network("connect_4x4", canonical=False)[0]
    )
    assert not network_player.is_symmetric(flat_network("tic_tac_toe")[0])


def test_of_equal_moves_the_lowest_is_played_without_canonical_boards():
    own, params = flat_network("connect_4x4", canonical=False)
    player = jax.jit(network_player.greedy_player(own, params))
    for column in (0, 3):
        state = Game.start("connect_4x4", [column]).state
        assert player(jax.random.key(0), state).tolist() == [0]


def test_of_equal_moves_the_player_of_a_tree_plays_that_of_its_policy(tree, deciding):
    own, params = flat_network("tic_tac_toe")
    player = jax.jit(network_player.greedy_player(own, params))
    policy = np.asarray(network_player.greedy_policy(own, params, tree))[tree.decisions]
    played = np.asarray(player(jax.random.key(0), deciding))
    np.testing.assert_array_equal(played, policy.argmax(axis=1))


@pytest.mark.parametrize("value", [0.0, float("nan")])
@pytest.mark.parametrize(("full", "other", "reply"), [(0, 3, 1), (3, 0, 2)])
def test_of_equal_moves_a_legal_one_is_played(full, other, reply, value):
    """Also if no value is a number. The canonical board's column 0 is full."""
    own, _ = flat_network("connect_4x4")
    state = Game.start("connect_4x4", [full, full, full, full, other]).state
    values = jnp.full((1, 4), value)
    assert network_player.greedy_actions(own, state, values).tolist() == [reply]


def test_the_greedy_player_is_its_policy_and_legal(tree, deciding):
    """An untrained network often gives an illegal move the highest value."""
    config = Config.of(hidden_size=9, canonical=False)
    own = network_of(config.architecture)
    params = q_network.init_params(own, jax.random.key(1))
    legal = np.asarray(deciding.legal_action_mask)
    player = jax.jit(network_player.greedy_player(own, params))
    moves = np.asarray(player(jax.random.key(0), deciding))
    assert legal[np.arange(len(moves)), moves].all()
    policy = np.asarray(network_player.greedy_policy(own, params, tree))
    assert (policy[np.asarray(tree.decisions)].argmax(axis=1) == moves).all()
    values = np.asarray(network_player.decision_values(own, params, tree))
    assert (values.argmax(axis=1) != moves).any()


def test_values_of_a_tree_are_those_of_its_boards(tree, deciding):
    config = Config.of(hidden_size=9)
    own = network_of(config.architecture)
    params = q_network.init_params(own, jax.random.key(2))
    values = network_player.decision_values(own, params, tree)
    each = network_player.board_values(own, params, deciding.observation)
    np.testing.assert_allclose(values, each, atol=1e-6)
