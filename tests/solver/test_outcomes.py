"""Exact results over the tree, compared with known constants and with each other."""

import jax
import numpy as np
import pytest

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
        assert not seat.can_be_beaten


def test_a_mixed_policy_plays_at_random_with_the_given_chance(host_tree):
    first = policies.share_equally(minimax.first_marked(host_tree.legal_action_mask))
    mixed = policies.mix_with_random(host_tree, 0.25, first)
    np.testing.assert_allclose(mixed[0], [0.75 + 0.25 / 9, *[0.25 / 9] * 8])
    np.testing.assert_allclose(mixed.sum(axis=1), ~host_tree.terminal)
