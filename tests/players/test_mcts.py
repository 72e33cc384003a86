"""Monte Carlo tree search: values known by hand, strength proven, memory."""

import functools

import jax
import numpy as np
import pytest

import jax_ttt
from jax_ttt.config.game_facts import GAMES
from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.games.played_game import replay
from jax_ttt.players import search_players
from jax_ttt.solver import outcomes, policies, proof

ENV_ID = "connect_4x4"


@functools.cache
def search(env_id, num_playouts):
    """Return a compiled function from a key and states to trees."""
    env = pgx_games.make_env(env_id)
    return jax.jit(
        lambda key, root: search_players.grow_trees(env, key, root, num_playouts)
    )


def root_means(nodes, root):
    means, visits = jax.jit(search_players.mean_results)(nodes, nodes.child[:, 0], root)
    return np.where(np.asarray(visits) > 0, means, np.nan)


def test_a_won_a_lost_and_a_drawn_move_have_their_values():
    """`XX- / XO- / OXO`, O to move: cell 2 wins, cell 5 loses to cell 2.

    The second game, `XOX / XO- / OX-`, ends in a draw whatever O plays.
    """
    root = replay("tic_tac_toe", [(0, 4, 1, 6, 3, 8, 7), (0, 1, 3, 6, 2, 4, 7)])
    nodes = jax.device_get(search("tic_tac_toe", 102)(jax.random.key(0), root))
    means = root_means(nodes, root)
    assert means[0, [2, 5]].tolist() == [1, -1]
    assert means[1, [5, 8]].tolist() == [0, 0]
    assert np.isnan(means).sum() == 14, "no other cell is free"
    won, lost = nodes.child[0, 0, [2, 5]]
    visits = nodes.visits[0]
    assert visits[0] == visits[won] + visits[lost] == 102
    assert visits[won] > 90
    assert (nodes.child[0] < 103).sum() == 3, "nothing is tried after a game's end"


@pytest.mark.parametrize("name", ["mcts:200", "mcts-online"])
def test_it_wins_and_blocks(name, host_tree, player_of, position):
    replies = {"XX-OO----": 2, "X--OO---X": 5, "XX--O----": 2}
    rows = np.array([position[board] for board in replies])
    states = jax.tree.map(lambda x: x[rows], host_tree.env_state)
    actions = jax.jit(player_of(name).choose)(jax.random.key(0), states)
    assert actions.tolist() == list(replies.values())


@pytest.mark.slow
def test_it_wins_and_blocks_where_games_are_searched_in_groups(monkeypatch, player_of):
    monkeypatch.setattr(search_players, "MAX_EDGES", 2 * 201 * 4)
    player = player_of("mcts-online", ENV_ID)
    assert (player.policy, player.evidence) == (None, "none")
    # A win in column 0; the opponent's three stones in column 0; in column 2.
    games = [(0, 1, 0, 1, 0, 1), (0, 1, 0, 1, 0, 3), (1, 2, 0, 2, 1, 2)]
    choose = jax.jit(lambda key, states: player.choose(key, states))
    moves = choose(jax.random.key(0), replay(ENV_ID, games))
    assert moves.tolist() == [0, 0, 2]


@pytest.mark.slow
def test_groups_bound_the_memory(monkeypatch, player_of):
    env = pgx_games.make_env(ENV_ID)
    player = player_of("mcts-online:1000", ENV_ID)

    def num_bytes(num_games):
        states = pgx_games.init(env, jax.random.key(0), num_games)
        choose = jax.jit(lambda key, states: player.choose(key, states))
        analysis = choose.lower(jax.random.key(0), states).compile().memory_analysis()
        assert analysis is not None
        return analysis.temp_size_in_bytes

    edges = 1001 * 4
    monkeypatch.setattr(search_players, "MAX_EDGES", 256 * edges)
    assert num_bytes(256) > 4 * 256 * edges
    monkeypatch.setattr(search_players, "MAX_EDGES", 8 * edges)
    assert num_bytes(256) < 4 * 32 * edges


@pytest.mark.slow
def test_a_key_decides_the_trees_and_finished_games_have_no_values():
    over = (0, 1, 0, 1, 0, 1, 0)
    root = replay(ENV_ID, [(0, 1), (3, 3), over])
    one, same, other = (
        jax.device_get(search(ENV_ID, 60)(jax.random.key(seed), root))
        for seed in (1, 1, 2)
    )
    jax.tree.map(np.testing.assert_array_equal, one, same)
    assert (one.child[0] != other.child[0]).any()
    assert np.isnan(root_means(one, root)[2]).all()
    assert one.visits[:, 0].tolist() == [60] * 3


@pytest.mark.slow
def test_it_is_unbeatable_and_beats_random_more_often_than_if_draws_were_wins(
    host_tree,
):
    random = policies.uniform_policy(host_tree)
    probs = jax_ttt.player("mcts").policy
    assert probs is not None
    assert not proof.can_be_beaten(host_tree, probs).any()
    assert outcomes.outcome(host_tree, probs, random)[0] > 0.818
    assert outcomes.outcome(host_tree, random, probs)[2] > 0.635


def test_rotated_and_mirrored_boards_get_rotated_and_mirrored_moves(
    host_tree, player_of
):
    probs = player_of("mcts:100").policy
    assert set(np.flatnonzero(probs[0])) in ({4}, {0, 2, 6, 8}, {1, 3, 5, 7})
    boards = host_tree.obs.reshape(-1, 9, 2)
    index = trees.position_index("tic_tac_toe")
    for view in np.array([view.cells for view in GAMES["tic_tac_toe"].symmetries]):
        image = index.of_boards(boards[:, view].reshape(-1, 3, 3, 2))
        np.testing.assert_array_equal(probs[image], probs[:, view])


def test_the_first_playout_is_a_random_game():
    """The first player wins 58.49 % of random games, and loses 28.81 %."""
    env = pgx_games.make_env("tic_tac_toe")
    root = pgx_games.init(env, jax.random.key(0), 8192)
    nodes = jax.device_get(search("tic_tac_toe", 1)(jax.random.key(1), root))
    sign = np.where(np.asarray(root.current_player) == 0, 1, -1)
    mean = (sign * nodes.total[:, 0]).mean()
    assert mean == pytest.approx(0.5849 - 0.2881, abs=0.04)  # 4 standard errors
