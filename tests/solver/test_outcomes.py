"""Exact results, compared with known constants and with each other."""

import jax
import numpy as np
import pytest

from jax_ttt.config.catalogue import GAMES, SEATS
from jax_ttt.envs import stones
from jax_ttt.solver import outcomes, policies, proof

REPORT = jax.jit(outcomes.report)
OUTCOME = jax.jit(outcomes.outcome)


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


@pytest.fixture(scope="module")
def first_best(best):
    return np.eye(9, dtype=np.float32)[best.argmax(axis=1)] * best


def random_policy(tree, seed):
    legal = np.asarray(tree.legal_action_mask)
    chances = np.random.default_rng(seed).random(legal.shape) * legal
    return np.eye(9, dtype=np.float32)[chances.argmax(axis=1)] * legal


def test_random_against_random(tree):
    uniform = policies.uniform(tree)
    expected = [58.492063, 12.698413, 28.809524]
    assert percent(OUTCOME(tree, uniform, uniform)) == pytest.approx(expected, abs=1e-4)


def test_minimax_with_random_best_moves_against_random(tree, best):
    report = REPORT(tree, shared(best))
    expected = pytest.approx([96.781, 3.219, 0], abs=5e-4)
    assert percent(report.first.random) == expected
    expected = pytest.approx([77.748, 22.252, 0], abs=5e-4)
    assert percent(report.second.random) == expected
    assert report.first.worst_loss_rate == report.second.worst_loss_rate == 0


def test_minimax_first_best_against_random(tree, first_best):
    report = REPORT(tree, first_best)
    expected = pytest.approx([99.479, 0.521, 0], abs=5e-4)
    assert percent(report.first.random) == expected
    expected = pytest.approx([80.635, 19.365, 0], abs=5e-4)
    assert percent(report.second.random) == expected


def test_minimax_against_minimax_is_always_a_draw(tree, best, first_best):
    for one in (shared(best), first_best):
        for other in (shared(best), first_best):
            assert percent(OUTCOME(tree, one, other)) == pytest.approx([0, 100, 0])


def test_the_most_wins_of_a_player_that_never_loses(tree, values, best):
    """It plays, of the moves that keep the value, the one with most wins vs. random."""
    legal, successor = np.asarray(tree.legal_action_mask), np.asarray(tree.successor)
    first, outcome = np.asarray(tree.first_to_move), np.asarray(tree.outcome)
    policy = np.zeros(legal.shape, np.float32)
    for seat, result in ((True, 1), (False, -1)):
        wins = (outcome == result).astype(float)
        # A position is safe if its value is at least a draw.
        safe = (values if seat else -values) >= 0
        for p in np.asarray(tree.decisions)[::-1]:
            actions = np.flatnonzero(legal[p])
            after = successor[p, actions]
            if first[p] == seat:
                chances = np.where(safe[after] | ~safe[p], wins[after], -1)
                wins[p] = chances.max()
                policy[p, actions[chances.argmax()]] = 1
            else:
                wins[p] = wins[after].mean()
    report = REPORT(tree, policy)
    expected = pytest.approx([99.4792, 0.5208, 0], abs=5e-5)
    assert percent(report.first.random) == expected
    expected = pytest.approx([91.6402, 8.3598, 0], abs=5e-5)
    assert percent(report.second.random) == expected
    mean = np.mean([percent(seat.random) for seat in report], axis=0)
    assert mean == pytest.approx([95.5597, 4.4403, 0], abs=5e-5)
    assert report.first.worst_loss_rate == report.second.worst_loss_rate == 0


@pytest.mark.parametrize("seed", range(6))
def test_the_worst_case_is_a_loss_exactly_if_there_is_a_losing_line(
    tree, host_tree, best, seed
):
    legal, successor = np.asarray(tree.legal_action_mask), np.asarray(tree.successor)
    # Optimal except for a few moves; some of these policies lose in a seat or in both.
    odd = np.random.default_rng(seed).random(len(best)) < 0.002 * seed
    policy = np.where(odd[:, None], random_policy(tree, seed), shared(best))
    report = REPORT(tree, policy)
    for seat, found in zip(SEATS, report, strict=True):
        line = proof.losing_line(host_tree, policy, seat)
        assert (line is None) == (float(found.worst_loss_rate) == 0)
        position = 0
        for at, action in line or []:
            assert at == position
            assert legal[at, action]
            assert not host_tree.moves_of(seat)[at] or policy[at, action] > 0
            position = successor[at, action]
        if line:
            assert host_tree.lost_by(seat)[position]


def test_the_shortest_losing_line_is_found(tree, host_tree):
    policy = np.eye(9, dtype=np.float32)[np.asarray(tree.legal_action_mask).argmax(1)]
    line = proof.losing_line(host_tree, policy, "second")
    assert line is not None
    assert len(line) == 5  # X can't win earlier
    line = proof.losing_line(host_tree, policy, "first")
    assert line is not None
    assert len(line) == 6  # nor O


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


def test_the_worst_case_of_a_random_player(tree):
    """It loses 887 of 945 games as X and 191 of 192 as O."""
    report = REPORT(tree, policies.uniform(tree))
    assert float(report.first.worst_loss_rate) == pytest.approx(887 / 945, abs=1e-6)
    assert float(report.second.worst_loss_rate) == pytest.approx(191 / 192, abs=1e-6)
