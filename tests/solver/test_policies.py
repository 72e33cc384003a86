"""Policies as matrices: uniform, shared between marked moves, deterministic."""

import numpy as np

from jax_ttt.solver import policies


def test_every_legal_move_has_the_same_probability(host_tree, boards):
    probs = policies.uniform(host_tree)
    empty = np.array([board.count("-") for board in boards])
    over = host_tree.terminal
    assert not probs[over].any()
    free = np.array([[cell == "-" for cell in board] for board in boards])
    expected = np.where(free & ~over[:, None], 1 / empty.clip(1)[:, None], 0)
    np.testing.assert_allclose(probs, expected, atol=1e-12)


def test_a_mixed_policy_plays_at_random_with_the_given_chance(host_tree):
    legal = host_tree.legal_action_mask
    first = np.eye(9)[legal.argmax(axis=1)] * legal
    found = policies.mix_with_random(host_tree, 0.25, first)
    np.testing.assert_allclose(found[0], [0.75 + 0.25 / 9, *[0.25 / 9] * 8])
    np.testing.assert_allclose(found.sum(axis=1), ~host_tree.terminal)
