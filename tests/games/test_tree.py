"""Known constants of tic-tac-toe; the package itself contains none of them."""

import jax
import numpy as np

from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees


def test_the_positions_of_tic_tac_toe(tree):
    terminal, outcome = np.asarray(tree.terminal), np.asarray(tree.outcome)
    first = np.asarray(tree.first_to_move)
    legal = np.asarray(tree.legal_action_mask)
    assert tree.num_positions == 5478
    assert terminal.sum() == 958
    assert [(outcome[terminal] == r).sum() for r in (1, -1, 0)] == [626, 316, 16]
    assert len(tree.decisions) == 4520
    assert first[~terminal].sum() == 2423
    assert (~first[~terminal]).sum() == 2097
    assert legal.sum() == 16_167
    assert (~legal[~terminal]).sum() == 24_513
    assert not legal[terminal].any()
    assert not outcome[~terminal].any()


def test_minimax_values(values):
    assert values[0] == 0
    assert [(values == value).sum() for value in (-1, 0, 1)] == [1474, 1068, 2936]


def test_a_seat_has_lost_where_the_other_one_has_a_line(host_tree, position):
    assert host_tree.lost_by("first").sum() == 316
    assert host_tree.lost_by("second").sum() == 626
    assert host_tree.lost_by("second")[position["XXXOO----"]]


def test_only_small_games_have_a_tree():
    assert trees.game_tree("connect_four") is None
    assert trees.host_tree("connect_four") is None


def test_each_move_leads_to_the_successor(host_tree):
    """PGX plays every legal move again, and gives the state of the successor."""
    parent, action = np.nonzero(host_tree.legal_action_mask)
    before = jax.tree.map(lambda x: x[parent], host_tree.env_state)
    env = pgx_games.make_env("tic_tac_toe")
    played = jax.device_get(pgx_games.play_moves(env, before, action))
    child = host_tree.successor[parent, action]
    after = jax.tree.map(lambda x: x[child], host_tree.env_state)
    jax.tree.map(np.testing.assert_array_equal, played, after)


def test_the_device_has_the_same_tree(tree, host_tree):
    assert tree.level_start == host_tree.level_start
    pairs = zip(jax.tree.leaves(tree), jax.tree.leaves(host_tree), strict=True)
    for on_device, on_host in pairs:
        assert isinstance(on_device, jax.Array)
        assert isinstance(on_host, np.ndarray)
        assert on_device.dtype == on_host.dtype
        np.testing.assert_array_equal(on_device, on_host)
