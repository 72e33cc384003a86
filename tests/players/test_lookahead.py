"""Depth-limited search: exact values, values by hand, and the effect of gamma."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.games import pgx_games, stone_boards
from jax_ttt.games import tree as trees
from jax_ttt.games.played_game import Game
from jax_ttt.players import search_players

ENV = pgx_games.make_env("tic_tac_toe")


@pytest.mark.slow
def test_exact_values_are_the_fixed_point_of_every_depth(q_star, host_tree):
    index = trees.position_index("tic_tac_toe")
    exact_values = np.nan_to_num(q_star)

    def q_fn(env_state):
        return jnp.asarray(exact_values)[index.of_states(env_state)]

    rows = host_tree.decisions[::8]
    states = jax.tree.map(lambda x: x[rows], host_tree.env_state)
    legal = states.legal_action_mask
    values = jax.jit(lambda state: search_players.negamax(ENV, q_fn, state, 2))(states)
    np.testing.assert_array_equal(np.asarray(values)[legal], q_star[rows][legal])


@pytest.mark.slow
def test_boards_that_do_not_fit_are_searched_in_parts(undecided, monkeypatch):
    few = jax.tree.map(lambda x: np.asarray(x)[::300], undecided)
    assert len(few.current_player) == 16
    sizes = set()

    def q_fn(env_state):
        sizes.add(len(env_state.current_player))
        return (
            stone_boards.cells(env_state.observation) / 8
        )  # exact, and no two are equal

    def values():
        search = jax.jit(lambda state: search_players.negamax(ENV, q_fn, state, 2, 0.5))
        return np.asarray(search(few))

    whole = values()
    assert sizes == {16 * 81}
    sizes.clear()
    monkeypatch.setattr(search_players, "MAX_BOARDS", 100)
    np.testing.assert_array_equal(values(), whole)
    assert sizes == {81}


@pytest.fixture(scope="module")
def fork():
    """Return a board where X can win in 8 and O threatens 6.

    In 6, X makes two more threats and wins later.
    """
    return Game.start("tic_tac_toe", [2, 0, 5, 3]).state


@pytest.mark.slow
def test_each_move_looked_ahead_is_discounted(fork):
    """Gamma is 0.5, and every value of the network is 0.75 to the player to move."""

    def q_fn(env_state):
        return jnp.full(env_state.legal_action_mask.shape, 0.75)

    values = jax.jit(
        lambda env_state: [
            search_players.negamax(ENV, q_fn, env_state, depth, 0.5)
            for depth in range(4)
        ]
    )(fork)
    empty = np.array([1, 4, 6, 7, 8])
    assert [np.asarray(row)[0, empty].tolist() for row in values] == [
        [0.75] * 5,
        [-0.375, -0.375, -0.375, -0.375, 1],  # minus 0.5 x 0.75, or the win
        [-0.5, -0.5, 0.1875, -0.5, 1],  # O wins at once, or 0.5 x 0.5 x 0.75
        [-0.5, -0.5, 0.25, -0.5, 1],  # X wins two moves later: 0.5 x 0.5
    ]
