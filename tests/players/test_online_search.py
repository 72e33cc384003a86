"""UCT that steps the game: beside the search over a graph, and on larger boards."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.games import pgx_games
from jax_ttt.players import lookahead, names, online_search, registry

ENV_ID = "connect_4x4"


def state_after(env_id, *games):
    """Return the states after these moves, of as many in each game."""
    env = pgx_games.make_env(env_id)
    state = pgx_games.init(env, jax.random.key(0), len(games))
    for action in np.array(games, np.int32).T:
        state = pgx_games.play_moves(env, state, jnp.asarray(action))
    return state


@functools.cache
def search(env_id, num_playouts):
    """Return a compiled function from a key and states to trees."""
    env = pgx_games.make_env(env_id)
    return jax.jit(
        lambda key, root: online_search.grow_trees(env, key, root, num_playouts)
    )


def test_it_counts_as_the_search_over_a_graph():
    """`XX- / XO- / OXO`, O to move: cell 2 wins, cell 5 loses to cell 2.

    These are the visits that a published program has. Each node has one way to it.
    """
    root = state_after("tic_tac_toe", (0, 4, 1, 6, 3, 8, 7))
    nodes = search("tic_tac_toe", 102)(jax.random.key(0), root)
    visits, score = np.asarray(nodes.visits[0]), np.asarray(nodes.score[0])
    child = np.asarray(nodes.child[0])
    assert (visits[0], score[0]) == (102, 6)  # X moved to the root, and won 6
    won, lost = child[0, [2, 5]]
    assert visits[[won, lost]].tolist() == [96, 6]
    assert score[[won, lost]].tolist() == [96, 0]
    after = child[lost, 2]
    assert (visits[after], score[after]) == (5, 5)
    assert (child < 103).sum() == 3  # nothing is tried after the end of a game
    values = online_search.root_values(nodes)[0]
    assert values.tolist() == [-1, -1, 1, -1, -1, 0, -1, -1, -1]


def test_a_draw_counts_half():
    """On a board with two free cells in one column, both moves end in a draw."""
    root = state_after("tic_tac_toe", (0, 1, 3, 6, 2, 4, 7))  # XOX XO- OX-
    assert not bool(root.terminated[0])
    nodes = search("tic_tac_toe", 10)(jax.random.key(0), root)
    assert float(nodes.score[0, 0] / nodes.visits[0, 0]) == 0.5


WIN, BLOCK = (0, 1, 0, 1, 0, 1), (0, 1, 0, 1, 0, 3)
"""The first player has three stones on each other; it wins in column 0."""


def test_it_wins_and_blocks_where_games_are_searched_in_groups(monkeypatch):
    monkeypatch.setattr(online_search, "MOST_EDGES", 2 * 201 * 4)
    spec = names.read_name("mcts-online", ENV_ID)
    entrant = registry.make_player(spec, ENV_ID, jax.random.key(0))
    assert (entrant.policy, entrant.is_deterministic) == (None, False)
    blocking = (1, 2, 0, 2, 1, 2)  # the second player has three in column 2
    states = state_after(ENV_ID, WIN, BLOCK, blocking)
    player = jax.jit(lambda key, states: entrant.choose(key, states))
    moves = player(jax.random.key(0), states)
    assert moves.tolist() == [0, 0, 2]


def test_a_seed_gives_the_same_trees_and_another_one_others():
    root = state_after(ENV_ID, (0, 1), (3, 3))
    one, same, other = (
        search(ENV_ID, 60)(jax.random.key(seed), root) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.child, same.child)
    np.testing.assert_array_equal(one.score, same.score)
    assert (one.child != other.child).any()


@pytest.mark.slow
def test_many_playouts_find_the_values_near_the_end_of_games():
    """Four moves before a full board; the values are those of all lines of play."""
    env = pgx_games.make_env(ENV_ID)
    full = np.tile(np.repeat(np.arange(4), 4), (200, 1))
    games = np.random.default_rng(0).permuted(full, axis=1)[:, :12]
    states = state_after(ENV_ID, *games.tolist())
    going = np.flatnonzero(~pgx_games.finished(states))[:20]
    states = jax.tree.map(lambda x: x[going], states)
    found, values = jax.jit(exact_beside, static_argnums=0)(env, states)
    legal = np.asarray(states.legal_action_mask)
    values = np.where(legal, values, np.nan)
    best = np.nanmax(values, axis=1)
    decided = np.nanmin(values, axis=1) < best
    chosen = np.where(legal, found, -2).argmax(axis=1)
    kept = values[np.arange(len(values)), chosen] == best
    assert decided.sum() >= 5
    assert kept.all()


def exact_beside(env, states):
    """Return the values of a search of 300 playouts, and those of all lines."""
    nodes = online_search.grow_trees(env, jax.random.key(0), states, 300)

    def zeros(env_state):
        return jnp.zeros(env_state.legal_action_mask.shape)

    values = lookahead.negamax(env, zeros, states, 4)
    return online_search.root_values(nodes), values


def test_values_of_finished_games_are_ignored():
    over = state_after(ENV_ID, *[(0, 1, 0, 1, 0, 1, 0)] * 2)
    assert bool(over.terminated.all())
    nodes = search(ENV_ID, 60)(jax.random.key(0), over)
    assert online_search.root_values(nodes).tolist() == [[-1] * 4] * 2
    assert float(nodes.visits[0, 0]) == 60
