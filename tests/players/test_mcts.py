"""UCT against published values, and its strength proven over the whole tree."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.config.game_facts import GAMES
from jax_ttt.games import positions, stones
from jax_ttt.players import mcts
from jax_ttt.solver import outcomes, policies, proof
from jax_ttt.text import board_text

SEARCH = jax.jit(mcts.search_graph)
UCB = jax.jit(mcts.ucb)


@pytest.fixture(scope="module")
def graph():
    return mcts.game_graph("tic_tac_toe")


@pytest.fixture(scope="module")
def at(host_tree):
    """Return a function from a board to its position."""
    position = {
        board_text.cells_as_text(host_tree, p): p
        for p in range(host_tree.num_positions)
    }
    return position.__getitem__


def bounds(graph, records, position):
    """Return UCB of each move of a position."""
    children = np.asarray(graph.after)[position].clip(max=764)  # illegal: past the end
    visits, score = (np.asarray(x)[0] for x in records)
    parent = visits[np.asarray(graph.node)[[position]]]
    return np.asarray(UCB(visits[children], score[children], parent))


def test_nodes_are_the_classes_of_symmetric_positions(graph):
    assert len(graph.terminal) == 765
    assert int(graph.terminal.sum()) == 138


def test_published_bounds_of_a_won_and_a_lost_move(graph, at):
    """`XX- / XO- / OXO`, O to move: cell 2 wins, cell 5 loses."""
    position = at("XX-XO-OXO")
    root = graph.node[position][None]
    none = mcts.Records(*(jnp.zeros((1, 765)) for _ in range(2)))
    assert bounds(graph, none, position)[[2, 5]].tolist() == [np.inf, np.inf]
    first = set()
    for seed in range(8):
        records = SEARCH(graph, jax.random.key(seed), root, 1)
        bound = bounds(graph, records, position)
        tried = 2 if np.isinf(bound[5]) else 5
        first.add(tried)
        assert bound[tried] == pytest.approx(1.0 if tried == 2 else 0.0)
        assert np.isinf(bound[7 - tried])
        records = SEARCH(graph, jax.random.key(seed), root, 2)
        assert bounds(graph, records, position)[[2, 5]] == pytest.approx(
            [2.177410022515475, 1.1774100225154747], abs=1e-6
        )
    assert first == {2, 5}  # of equals, any
    records = SEARCH(graph, jax.random.key(0), root, 102)
    after = graph.after[position]
    assert records.visits[0, after[jnp.array([2, 5])]].tolist() == [96, 6]
    # The position itself, for X, who moved there: 6 wins of 102.
    assert [float(x[0, root[0]]) for x in records] == [102, 6]
    assert bounds(graph, records, position)[[2, 5]] == pytest.approx(
        [1.3104087632087014, 1.2416350528348057], abs=1e-6
    )


def test_a_draw_counts_half(graph, at):
    position = at("XOXXO-OX-")  # O to move; both cells end in a draw
    records = SEARCH(graph, jax.random.key(0), graph.node[position][None], 10)
    node = graph.node[position]
    assert float(records.score[0, node] / records.visits[0, node]) == 0.5


@pytest.fixture(scope="module")
def offline(host_tree, graph):
    """Return a function that gives a seed's policy at the default budget."""

    @functools.cache
    def policy(seed):
        return mcts.offline_policy(host_tree, graph, jax.random.key(seed), 4000)

    return policy


fresh = pytest.mark.parametrize(
    "seeds",
    [range(1000, 1002), pytest.param(range(1002, 1008), marks=pytest.mark.slow)],
    ids=["2", "6 more"],
)


@fresh
def test_it_is_unbeatable_in_both_seats_on_every_seed(seeds, host_tree, offline):
    for probs in map(offline, seeds):
        assert not proof.beaten(host_tree, probs).any()


@fresh
def test_it_beats_random_more_often_than_where_draws_count_as_wins(
    seeds, host_tree, offline
):
    random = policies.uniform(host_tree)
    for probs in map(offline, seeds):
        assert outcomes.outcome(host_tree, probs, random).win_rate > 0.818
        assert outcomes.outcome(host_tree, random, probs).loss_rate > 0.635


def test_symmetric_moves_are_shared(host_tree, offline):
    """On a rotated or mirrored board, its moves are rotated or mirrored."""
    probs = offline(1000)
    assert set(np.flatnonzero(probs[0])) in ({4}, {0, 2, 6, 8}, {1, 3, 5, 7})
    features = np.asarray(stones.cells(host_tree.obs))
    for view in np.array([view.cells for view in GAMES["tic_tac_toe"].symmetries]):
        number = stones.board_number(jnp.asarray(features[:, view]))
        seen = positions.position_index("tic_tac_toe")[np.asarray(number)]
        np.testing.assert_array_equal(probs[seen], probs[:, view])


def test_online_it_wins_and_blocks(tree, graph, at):
    player = mcts.online_player(graph, positions.position_index("tic_tac_toe"), 200)
    boards = {"XX-OO----": 2, "X--OO---X": 5, "XX--O----": 2}
    states = jax.tree.map(
        lambda x: x[jnp.array([at(board) for board in boards])],
        tree.env_state,
    )
    actions = jax.jit(player)(jax.random.key(0), states)
    assert actions.tolist() == list(boards.values())


def test_a_move_that_was_never_tried_is_worse_than_a_lost_one():
    records = mcts.Records(jnp.array([[2.0, 4.0, 0.0]]), jnp.array([[1.5, 0.0, 0.0]]))
    means = mcts.mean_scores(records, jnp.array([[0, 1, 2]]))
    assert means.tolist() == [[0.75, 0.0, -1.0]]
