"""Exact results over the tree, compared with known constants and with each other."""

import jax
import numpy as np

from jax_ttt.solver import outcomes, policies

seat_results = jax.jit(outcomes.seat_results)


def test_minimax_with_random_best_moves_against_random(tree, host_tree):
    probs = policies.minimax_policy(host_tree).astype(np.float32)
    rates, worst_loss_rate, worst_result = seat_results(tree, probs)
    expected = [[0.96781, 0.03219, 0], [0.77748, 0.22252, 0]]
    np.testing.assert_allclose(rates, expected, atol=5e-6)
    assert worst_loss_rate.tolist() == [0, 0]
    assert worst_result.tolist() == [0, 0]


def test_a_mixed_policy_plays_at_random_with_the_given_chance(host_tree):
    first = policies.share_equally(policies.first_marked(host_tree.legal_action_mask))
    mixed = policies.mix_with_random(host_tree, 0.25, first)
    np.testing.assert_allclose(mixed[0], [0.75 + 0.25 / 9, *[0.25 / 9] * 8])
    np.testing.assert_allclose(mixed.sum(axis=1), ~host_tree.terminal)
