"""Exact results over the tree, compared with known constants and with each other."""

import jax
import numpy as np
import pytest

from jax_ttt.config.game_facts import GAMES
from jax_ttt.games import stones
from jax_ttt.solver import minimax, outcomes, policies

REPORT = jax.jit(outcomes.seat_report)


def test_minimax_with_random_best_moves_against_random(tree, host_tree):
    report = REPORT(tree, minimax.policy(host_tree).astype(np.float32))
    for seat, rates in (
        (report.first, [0.96781, 0.03219, 0]),
        (report.second, [0.77748, 0.22252, 0]),
    ):
        assert [*map(float, seat.random)] == pytest.approx(rates, abs=5e-6)
        assert seat.worst_loss_rate == 0
        assert not seat.beaten


def test_rotated_and_mirrored_policies_have_the_same_results(tree, host_tree):
    noise = np.random.default_rng(3).random(host_tree.legal_action_mask.shape)
    best = (noise * host_tree.legal_action_mask).argmax(axis=1)
    policy = np.eye(9, dtype=np.float32)[best] * host_tree.legal_action_mask
    cells = np.asarray(stones.cells(tree.obs))
    level = np.repeat(np.arange(10), np.diff(tree.level_start)).tolist()
    boards = list(zip(level, map(bytes, cells), strict=True))
    position = {board: index for index, board in enumerate(boards)}
    expected = jax.tree.leaves(REPORT(tree, policy))
    for view in np.array([view.cells for view in GAMES["tic_tac_toe"].symmetries]):
        turned = zip(level, map(bytes, cells[:, view]), strict=True)
        # The view shows cell view[i] as i, so action i becomes action view[i].
        turned_policy = np.zeros_like(policy)
        turned_policy[:, view] = policy[[position[board] for board in turned]]
        results = jax.tree.leaves(REPORT(tree, turned_policy))
        np.testing.assert_allclose(results, expected, atol=1e-6)


def test_a_mixed_policy_plays_at_random_with_the_given_chance(host_tree):
    first = policies.share_equally(minimax.first_marked(host_tree.legal_action_mask))
    mixed = policies.mix_with_random(host_tree, 0.25, first)
    np.testing.assert_allclose(mixed[0], [0.75 + 0.25 / 9, *[0.25 / 9] * 8])
    np.testing.assert_allclose(mixed.sum(axis=1), ~host_tree.terminal)
