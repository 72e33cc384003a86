"""The enumerated tree: constants of tic-tac-toe. Nim is in test_own_rules.py."""

import dataclasses

import jax
import numpy as np
import pytest
from pgx.tic_tac_toe import TicTacToe

from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees


def test_the_positions_of_tic_tac_toe(host_tree):
    terminal, outcome = host_tree.terminal, host_tree.outcome
    first, legal = host_tree.first_to_move, host_tree.legal_action_mask
    assert host_tree.num_positions == 5478
    assert terminal.sum() == 958
    assert [(outcome[terminal] == r).sum() for r in (1, -1, 0)] == [626, 316, 16]
    assert [host_tree.lost_by(seat).sum() for seat in ("second", "first")] == [626, 316]
    assert len(host_tree.decisions) == 4520
    assert [(first[~terminal] == turn).sum() for turn in (True, False)] == [2423, 2097]
    assert legal.sum() == 16_167
    assert (~legal[~terminal]).sum() == 24_513
    assert not legal[terminal].any()
    assert not outcome[~terminal].any()


def test_each_move_leads_to_the_successor(host_tree):
    """PGX plays every legal move again, and gives the state of the successor."""
    parent, action = np.nonzero(host_tree.legal_action_mask)
    before = jax.tree.map(lambda x: x[parent], host_tree.env_state)
    env = pgx_games.make_env("tic_tac_toe")
    played = jax.device_get(pgx_games.play_moves(env, before, action))
    child = host_tree.successor[parent, action]
    after = jax.tree.map(lambda x: x[child], host_tree.env_state)
    jax.tree.map(np.testing.assert_array_equal, played, after)


def test_each_board_is_found_by_its_observation(host_tree):
    index = trees.position_index("tic_tac_toe")
    compiled = jax.jit(lambda index, obs: index.of_boards(obs))
    for found in (index.of_boards(host_tree.obs), compiled(index, host_tree.obs)):
        np.testing.assert_array_equal(found, np.arange(5478))


def test_the_device_has_the_same_tree(tree, host_tree):
    assert tree.level_start == host_tree.level_start
    for leaf in jax.tree.leaves(tree):
        assert isinstance(leaf, jax.Array)
    jax.tree.map(np.testing.assert_array_equal, jax.device_get(tree), host_tree)


def test_only_small_games_have_a_tree():
    assert trees.game_tree("connect_four") is None


class OtherIds(TicTacToe):
    """Tic-tac-toe in which the first player has the other id."""

    def _init(self, key):
        state = super()._init(key)
        return dataclasses.replace(state, current_player=1 - state.current_player)


def test_the_first_player_may_have_either_id(host_tree):
    tree = trees.enumerate_positions(OtherIds(), 10_000).tree()
    assert tree.env_state.current_player[0] != host_tree.env_state.current_player[0]
    np.testing.assert_array_equal(np.bincount(tree.outcome + 1), [316, 4536, 626])
    assert tree.first_to_move[:2].tolist() == [True, False]


@pytest.mark.parametrize("most", [1, 9, 10, 81, 82, 5477])
def test_a_game_that_is_too_large_is_not_whole(most):
    """It has two levels at least, and no move leads out of its levels."""
    found = trees.enumerate_positions(pgx_games.make_env("tic_tac_toe"), most)
    assert not found.is_whole
    assert len(found.levels) == 1 + len(found.moves) >= 2
    tree = found.tree()
    assert tree.num_positions <= max(most, 10)
    assert all(child.max() < tree.num_positions for _, _, child in found.moves)
