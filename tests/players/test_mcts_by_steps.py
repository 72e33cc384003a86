"""UCT that steps the game: compared with published counts, and on larger boards."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.games import pgx_games
from jax_ttt.games.played_game import replay
from jax_ttt.players import lookahead, mcts_by_steps

ENV_ID = "connect_4x4"


@functools.cache
def search(env_id, num_playouts):
    """Return a compiled function from a key and states to trees."""
    env = pgx_games.make_env(env_id)
    return jax.jit(
        lambda key, root: mcts_by_steps.grow_trees(env, key, root, num_playouts)
    )


@pytest.mark.slow
def test_it_counts_as_a_published_program():
    """`XX- / XO- / OXO`, O to move: cell 2 wins, cell 5 loses to cell 2.

    The second game, `XOX / XO- / OX-`, ends in a draw whatever O plays.
    """
    root = replay("tic_tac_toe", [(0, 4, 1, 6, 3, 8, 7), (0, 1, 3, 6, 2, 4, 7)])
    nodes = jax.device_get(search("tic_tac_toe", 102)(jax.random.key(0), root))
    visits, score, child = nodes.visits[0], nodes.score[0], nodes.child[0]
    assert (visits[0], score[0]) == (102, 6)  # X moved to the root, and won 6
    won, lost = child[0, [2, 5]]
    assert visits[[won, lost]].tolist() == [96, 6]
    assert score[[won, lost]].tolist() == [96, 0]
    after = child[lost, 2]
    assert (visits[after], score[after]) == (5, 5)
    assert (child < 103).sum() == 3  # nothing is tried after the end of a game
    values = np.asarray(jax.jit(mcts_by_steps.root_values)(nodes))[0]
    assert values.tolist() == [-1, -1, 1, -1, -1, 0, -1, -1, -1]
    assert nodes.score[1, 0] / nodes.visits[1, 0] == 0.5


@pytest.mark.slow
def test_it_wins_and_blocks_where_games_are_searched_in_groups(monkeypatch, player_of):
    monkeypatch.setattr(mcts_by_steps, "MAX_EDGES", 2 * 201 * 4)
    player = player_of("mcts-online", ENV_ID)
    assert (player.policy, player.evidence) == (None, "none")
    # A win in column 0; the opponent's three stones in column 0; in column 2.
    games = [(0, 1, 0, 1, 0, 1), (0, 1, 0, 1, 0, 3), (1, 2, 0, 2, 1, 2)]
    choose = jax.jit(lambda key, states: player.choose(key, states))
    moves = choose(jax.random.key(0), replay(ENV_ID, games))
    assert moves.tolist() == [0, 0, 2]


@pytest.mark.slow
def test_a_seed_decides_the_trees_and_finished_games_have_no_values():
    over = (0, 1, 0, 1, 0, 1, 0)
    root = replay(ENV_ID, [(0, 1), (3, 3), over])
    one, same, other = (
        jax.device_get(search(ENV_ID, 60)(jax.random.key(seed), root))
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.child, same.child)
    np.testing.assert_array_equal(one.score, same.score)
    assert (one.child[0] != other.child[0]).any()
    values = np.asarray(jax.jit(mcts_by_steps.root_values)(one))
    assert values[2].tolist() == [-1] * 4
    assert one.visits[:, 0].tolist() == [60] * 3


@pytest.mark.slow
def test_many_playouts_find_the_values_near_the_end_of_games():
    """Four moves before a full board; the values count all lines of play."""
    env = pgx_games.make_env(ENV_ID)
    full = np.tile(np.repeat(np.arange(4), 4), (200, 1))
    games = np.random.default_rng(0).permuted(full, axis=1)[:, :12]
    states = jax.device_get(replay(ENV_ID, games.tolist()))
    rows = np.flatnonzero(~(states.terminated | states.truncated))[:20]
    states = jax.tree.map(lambda x: x[rows], states)
    nodes = search(ENV_ID, 300)(jax.random.key(0), states)
    legal = np.asarray(states.legal_action_mask)
    moves = np.where(legal, mcts_by_steps.root_values(nodes), -2).argmax(axis=1)

    def zeros(env_state):
        return jnp.zeros(env_state.legal_action_mask.shape)

    exact = jax.jit(lambda states: lookahead.negamax(env, zeros, states, 4))(states)
    exact = np.where(legal, exact, np.nan)
    best = np.nanmax(exact, axis=1)
    assert (np.nanmin(exact, axis=1) < best).sum() >= 5
    assert (exact[np.arange(len(exact)), moves] == best).all()
