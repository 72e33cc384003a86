"""Games of stones in a row, beside PGX's and an independent search for rows."""

import four_in_a_row
import jax
import numpy as np
import pytest
from random_games import random_games

from jax_ttt.config.game_facts import GAMES
from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.solver import policies


def test_connect_7x6_is_the_connect_four_of_pgx():
    games = (random_games(env_id, 500) for env_id in ("connect_7x6", "connect_four"))
    number = 0
    for number, states in enumerate(zip(*games, strict=True)):
        leaves = [jax.tree_util.tree_leaves_with_path(state) for state in states]
        for (path, leaf), (other_path, other) in zip(*leaves, strict=True):
            assert jax.tree_util.keystr(path) == jax.tree_util.keystr(other_path)
            assert leaf.dtype == other.dtype
            np.testing.assert_array_equal(leaf, other, err_msg=f"{path} {number}")
    assert number >= 35


@pytest.mark.parametrize(
    ("env_id", "num_rows"), [("mnk_4x4_4", 10), ("connect_4x5", 8 + 5 + 4)]
)
def test_a_row_of_four_wins(env_id, num_rows):
    height, width = GAMES[env_id].shape
    lines = four_in_a_row.lines_of(width, height)
    assert len(lines) == num_rows
    rows = np.array([[y * width + x for x, y in line] for line in lines])
    num_draws = 0
    for state in random_games(env_id, 2000):
        has_row = [(state._x.board[:, rows] == who).all(-1).any(-1) for who in (0, 1)]
        full = (state._x.board >= 0).all(axis=1)
        won = has_row[0] | has_row[1]
        np.testing.assert_array_equal(state.terminated, won | full)
        expected = np.where(has_row[0], 0, np.where(has_row[1], 1, -1))
        np.testing.assert_array_equal(state._x.winner, expected)
        num_draws += int((full & ~won).sum())
    assert num_draws > 100


def test_an_illegal_move_loses():
    env = pgx_games.make_env("connect_4x4")
    state = pgx_games.init(env, jax.random.key(0), 1)
    for _ in range(4):
        state = pgx_games.play_moves(env, state, np.array([2]))
    assert state.legal_action_mask.tolist() == [[True, True, False, True]]
    (mover,) = state.current_player.tolist()
    state = pgx_games.play_moves(env, state, np.array([2]))
    assert state.terminated.tolist() == [True]
    assert state.rewards.tolist()[0][mover] == -1


def test_the_tree_of_4x4_has_161029_positions_and_is_a_draw():
    """Both were counted elsewhere, too."""
    env = pgx_games.make_env("connect_4x4")
    tree = trees.enumerate_positions(env, 200_000).tree()
    assert tree.num_positions == 161_029
    assert policies.minimax_values(tree)[0] == 0
