"""A network's greedy player: its best legal move, as a function and as a policy."""

import functools
from typing import Any

import jax
import numpy as np
import pytest
import tiny

from jax_ttt.config.settings import Config
from jax_ttt.dqn import greedy_player
from jax_ttt.games import pgx_games
from jax_ttt.games.played_game import Game, choose_in_blocks
from jax_ttt.networks import q_network
from jax_ttt.players import saved_agents
from jax_ttt.players.player import boards_of_random_games
from jax_ttt.players.saved_agents import network_from

init_params = jax.jit(q_network.init_params)


def make_network(seed=0, **fields):
    """Return a network and its weights."""
    size = {} if fields.get("network") == "table" else {"hidden_size": 4}
    network = network_from(Config.of(**size | fields).architecture)
    return network, init_params(network, jax.random.key(seed))


def flat_network(env_id, canonical=True):
    """Return a network that gives all moves the same value, with its weights."""
    network, params = make_network(env_id=env_id, canonical=canonical)
    return network, jax.tree.map(np.zeros_like, params)


@pytest.mark.slow
def test_of_equal_moves_the_lowest_is_played_in_an_enumerable_game(tree, undecided):
    network, params = flat_network("tic_tac_toe")
    assert not greedy_player.is_symmetric(network)
    lowest = np.asarray(undecided.legal_action_mask).argmax(axis=1)
    player = jax.jit(greedy_player.GreedyPlayer(network, params))
    np.testing.assert_array_equal(player(jax.random.key(0), undecided), lowest)
    policy = np.asarray(saved_agents.greedy_policy(network, params, tree))
    decisions = np.asarray(tree.decisions)
    np.testing.assert_array_equal(policy[decisions].argmax(axis=1), lowest)


def test_the_greedy_player_is_its_policy_and_legal(tree, undecided):
    """An untrained network often gives an illegal move the highest value."""
    network, params = make_network(seed=1, hidden_size=9, canonical=False)
    legal = np.asarray(undecided.legal_action_mask)
    player = jax.jit(greedy_player.GreedyPlayer(network, params))
    moves = np.asarray(player(jax.random.key(0), undecided))
    assert legal[np.arange(len(moves)), moves].all()
    policy = np.asarray(saved_agents.greedy_policy(network, params, tree))
    assert (policy[np.asarray(tree.decisions)].argmax(axis=1) == moves).all()
    values = np.asarray(saved_agents.decision_values(network, params, tree))
    assert (values.argmax(axis=1) != moves).any()


def test_values_of_a_tree_are_those_of_its_boards(tree, undecided):
    network, params = make_network(seed=2, hidden_size=9)
    values = saved_agents.decision_values(network, params, tree)
    each = saved_agents.board_values(network, params, undecided.observation)
    np.testing.assert_allclose(values, each, atol=1e-6)


def coarse_network(env_id, canonical=True):
    """Return a network of integers of which many moves have equal scores."""
    network, params = make_network(env_id=env_id, canonical=canonical)
    obs = np.asarray(Game.start(env_id).state.observation)
    integers = q_network.to_integers(network, params, obs)
    last: Any = integers["layer2"]
    last["kernel"] = np.sign(last["kernel"])
    return network, integers


@pytest.mark.parametrize(
    ("make", "fields"),
    [
        (make_network, {"env_id": "connect_4x4"}),
        (make_network, {"env_id": "tic_tac_toe", "canonical": False}),
        (make_network, {"env_id": "tic_tac_toe", "network": "table"}),
        (flat_network, {"env_id": "connect_4x4"}),
        (flat_network, {"env_id": "connect_4x4", "canonical": False}),
        (flat_network, {"env_id": "tic_tac_toe"}),
        (coarse_network, {"env_id": "connect_4x4"}),
        (coarse_network, {"env_id": "connect_4x4", "canonical": False}),
    ],
)
def test_moves_in_order_are_those_of_the_greedy_player(make, fields, undecided):
    """The next one is what it plays if those before it are not legal."""
    network, params = make(**fields)
    states = undecided
    if fields["env_id"] == "connect_4x4":
        env = pgx_games.make_env("connect_4x4")
        states = boards_of_random_games(
            env, jax.random.key(0), num_games=40, num_moves=7
        )
    order = np.asarray(jax.jit(saved_agents.ordered_actions)(network, params, states))
    legal = np.array(states.legal_action_mask)
    in_order = np.take_along_axis(legal, order, axis=1)
    assert (np.sort(order, axis=1) == np.arange(legal.shape[1])).all()
    assert (in_order[:, 1:] <= in_order[:, :-1]).all(), "the illegal ones are last"
    play = jax.jit(greedy_player.GreedyPlayer(network, params))
    rows = np.arange(len(order))
    for place in range(3):
        has_move = legal.any(axis=1)
        masked = states.replace(legal_action_mask=legal)
        moves = np.asarray(play(jax.random.key(0), masked))
        np.testing.assert_array_equal(order[has_move, place], moves[has_move])
        legal[rows, order[:, place]] = False


def test_the_values_of_a_board_are_the_same_among_any_number_of_boards():
    """In the blocks in which a network of floats plays, to the last bit."""
    agent = tiny.untrained(Config.of(env_id="connect_4x4", hidden_size=64))

    def first_bits(key, env_state):
        values = saved_agents.board_values(
            agent.network, agent.params, env_state.observation
        )
        return jax.lax.bitcast_convert_type(values[:, 0], np.int32)

    boards = boards_of_random_games(
        pgx_games.make_env("connect_4x4"), jax.random.key(0), num_games=50, num_moves=6
    )
    play = jax.jit(functools.partial(choose_in_blocks, first_bits, 16))
    bits = play(jax.random.key(0), boards)
    for num_boards in (1, 2, 7, 16, 100):
        some = jax.tree.map(lambda leaf, n=num_boards: leaf[-n:], boards)
        assert np.array_equal(play(jax.random.key(0), some), bits[-num_boards:])
