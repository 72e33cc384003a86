"""UCT against published values, and its strength proven over the whole tree."""

import functools

import jax
import numpy as np
import pytest

from jax_ttt.config.game_facts import GAMES
from jax_ttt.games import tree as trees
from jax_ttt.players import mcts_on_tree
from jax_ttt.solver import outcomes, policies, proof

SEARCH = jax.jit(mcts_on_tree.search_graph)
UCB = jax.jit(mcts_on_tree.ucb)


@pytest.fixture(scope="module")
def graph():
    return mcts_on_tree.game_graph("tic_tac_toe")


def bounds(graph, records, position):
    """Return UCB of each move of a position."""
    children = np.asarray(graph.after)[position].clip(max=764)  # illegal: past the end
    visits, score = (np.asarray(x)[0] for x in records)
    parent = visits[np.asarray(graph.node)[[position]]]
    return np.asarray(UCB(visits[children], score[children], parent))


def test_the_bounds_of_a_won_and_a_lost_move_are_the_published_ones(graph, position):
    """`XX- / XO- / OXO`, O to move: cell 2 wins, cell 5 loses."""
    assert (len(graph.terminal), np.asarray(graph.terminal).sum()) == (765, 138)
    board = position["XX-XO-OXO"]
    root = np.asarray(graph.node)[[board]]
    zeros = jax.device_put(np.zeros((1, 765), np.float32))
    unvisited = mcts_on_tree.Records(visits=zeros, score=zeros)
    assert bounds(graph, unvisited, board)[[2, 5]].tolist() == [np.inf, np.inf]
    first_moves = set()
    for seed in range(6):
        records = SEARCH(graph, jax.random.key(seed), root, 1)
        bound = bounds(graph, records, board)
        tried = 2 if np.isinf(bound[5]) else 5
        first_moves.add(tried)
        assert bound[tried] == pytest.approx(1.0 if tried == 2 else 0.0)
        assert np.isinf(bound[7 - tried])
        records = SEARCH(graph, jax.random.key(seed), root, 2)
        assert bounds(graph, records, board)[[2, 5]] == pytest.approx(
            [2.177410022515475, 1.1774100225154747], abs=1e-6
        )
    assert first_moves == {2, 5}  # of equal moves, a random one
    records = SEARCH(graph, jax.random.key(0), root, 102)
    records = jax.device_get(records)
    after = np.asarray(graph.after)[board]
    assert records.visits[0, after[[2, 5]]].tolist() == [96, 6]
    # The position itself, for X, who moved there: 6 wins of 102.
    assert [x[0, root[0]] for x in records] == [102, 6]
    assert bounds(graph, records, board)[[2, 5]] == pytest.approx(
        [1.3104087632087014, 1.2416350528348057], abs=1e-6
    )


def test_a_draw_counts_half(graph, position):
    # O to move; both cells end in a draw.
    root = np.asarray(graph.node)[[position["XOXXO-OX-"]]]
    records = jax.device_get(SEARCH(graph, jax.random.key(0), root, 10))
    assert records.score[0, root] / records.visits[0, root] == [0.5]


@pytest.fixture(scope="module")
def offline(host_tree, graph):
    """Return a function that gives a seed's policy at the default budget."""

    @functools.cache
    def policy(seed):
        return mcts_on_tree.offline_policy(host_tree, graph, jax.random.key(seed), 4000)

    return policy


@pytest.mark.parametrize(
    "seeds",
    [range(1000, 1001), pytest.param(range(1001, 1020), marks=pytest.mark.slow)],
    ids=["1", "19 more"],
)
def test_it_is_unbeatable_and_beats_random_more_often_than_if_draws_were_wins(
    seeds, host_tree, offline
):
    random = policies.uniform_policy(host_tree)
    for probs in map(offline, seeds):
        assert not proof.can_be_beaten(host_tree, probs).any()
        assert outcomes.outcome(host_tree, probs, random)[0] > 0.818
        assert outcomes.outcome(host_tree, random, probs)[2] > 0.635


def test_rotated_and_mirrored_boards_get_rotated_and_mirrored_moves(host_tree, offline):
    probs = offline(1000)
    assert set(np.flatnonzero(probs[0])) in ({4}, {0, 2, 6, 8}, {1, 3, 5, 7})
    boards = host_tree.obs.reshape(-1, 9, 2)
    index = trees.position_index("tic_tac_toe")
    for view in np.array([view.cells for view in GAMES["tic_tac_toe"].symmetries]):
        image = index.of_boards(boards[:, view].reshape(-1, 3, 3, 2))
        np.testing.assert_array_equal(probs[image], probs[:, view])


def test_online_it_wins_and_blocks(host_tree, player_of, position):
    replies = {"XX-OO----": 2, "X--OO---X": 5, "XX--O----": 2}
    rows = np.array([position[board] for board in replies])
    states = jax.tree.map(lambda x: x[rows], host_tree.env_state)
    actions = jax.jit(player_of("mcts-online:200").choose)(jax.random.key(0), states)
    assert actions.tolist() == list(replies.values())


def test_an_untried_move_is_worse_than_a_lost_one():
    visits, score = np.array([[[2, 4, 0]], [[1.5, 0, 0]]], np.float32)
    records = mcts_on_tree.Records(visits, score)
    means = jax.jit(mcts_on_tree.mean_scores)(records, np.array([[0, 1, 2]]))
    assert means.tolist() == [[0.75, 0.0, -1.0]]
