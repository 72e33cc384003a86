"""Exact results, compared with known constants and with each other."""

import jax
import numpy as np
import pytest

from jax_ttt.config.game_facts import GAMES
from jax_ttt.games import stones
from jax_ttt.solver import outcomes, policies, proof

REPORT = jax.jit(outcomes.seat_report)


def percent(outcome):
    return [100 * float(rate) for rate in outcome]


def shared(best):
    """Return the policy that plays the marked actions with equal probability."""
    return (best / best.sum(axis=1, keepdims=True).clip(1)).astype(np.float32)


@pytest.fixture(scope="module")
def best(tree, q_star):
    """Return a mask of the legal actions that keep the minimax value."""
    legal = np.asarray(tree.legal_action_mask)
    q_values = np.where(legal, q_star, -np.inf)
    return legal & (q_values == q_values.max(axis=1, keepdims=True))


def random_policy(tree, seed):
    legal = np.asarray(tree.legal_action_mask)
    chances = np.random.default_rng(seed).random(legal.shape) * legal
    return np.eye(9, dtype=np.float32)[chances.argmax(axis=1)] * legal


def test_minimax_with_random_best_moves_against_random(tree, best):
    report = REPORT(tree, shared(best))
    expected = pytest.approx([96.781, 3.219, 0], abs=5e-4)
    assert percent(report.first.random) == expected
    expected = pytest.approx([77.748, 22.252, 0], abs=5e-4)
    assert percent(report.second.random) == expected
    assert report.first.worst_loss_rate == report.second.worst_loss_rate == 0


def test_the_shortest_losing_line_is_found(tree, host_tree):
    policy = np.eye(9, dtype=np.float32)[np.asarray(tree.legal_action_mask).argmax(1)]
    line = proof.losing_line(host_tree, policy, "second")
    assert line is not None
    assert len(line) == 5  # X can't win earlier
    line = proof.losing_line(host_tree, policy, "first")
    assert line is not None
    assert len(line) == 6  # nor O


def test_rotated_and_mirrored_policies_have_the_same_results(tree):
    policy = random_policy(tree, 3)
    cells = np.asarray(stones.cells(tree.obs))
    level = np.repeat(np.arange(10), np.diff(tree.level_start))
    keys = list(zip(level.tolist(), map(bytes, cells), strict=True))
    position = {key: index for index, key in enumerate(keys)}
    expected = jax.tree.leaves(REPORT(tree, policy))
    for view in np.array([view.cells for view in GAMES["tic_tac_toe"].symmetries]):
        turned = [
            position[key]
            for key in zip(level.tolist(), map(bytes, cells[:, view]), strict=True)
        ]
        # The view shows cell view[i] as i, so action i becomes action view[i].
        seen = policy[turned]
        same = np.zeros_like(policy)
        same[:, view] = seen
        found = jax.tree.leaves(REPORT(tree, same))
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_one_losing_line_in_the_whole_tree_is_found(tree, host_tree, best, values):
    """A sampled match would rarely show this loss."""
    policy = shared(best)
    # O plays a losing move in the position that a random X reaches least often.
    reach = np.zeros(tree.num_positions)
    reach[0] = 1
    legal, successor = np.asarray(tree.legal_action_mask), np.asarray(tree.successor)
    first = np.asarray(tree.first_to_move)
    uniform = np.asarray(policies.uniform(tree))
    for p in np.asarray(tree.decisions):
        chances = uniform[p] if first[p] else policy[p]
        np.add.at(reach, successor[p], reach[p] * chances * legal[p])
    worse = legal & ~best & ~first[:, None] & (values == 0)[:, None]
    position = min(
        np.flatnonzero(worse.any(axis=1) & (reach > 0)), key=reach.__getitem__
    )
    action = worse[position].argmax()
    policy[position] = np.eye(9)[action]
    report = REPORT(tree, policy)
    assert 0 < report.second.random.loss_rate < 2e-3
    assert report.second.worst_loss_rate > 0
    assert report.first.worst_loss_rate == 0
    assert proof.losing_line(host_tree, policy, "second") is not None
