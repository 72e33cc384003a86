"""Exact results against the constants of the game, and against each other."""

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
    """Play each of the marked actions with the same chance."""
    return (best / best.sum(axis=1, keepdims=True).clip(1)).astype(np.float32)


@pytest.fixture(scope="module")
def best(tree, q_star):
    """Which legal actions keep the minimax value."""
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


def test_minimax_with_ties_at_random_against_random(tree, best):
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


def test_the_most_wins_of_a_player_who_never_loses(tree, values, best):
    """Among moves that keep the value, the one that wins most often v random."""
    legal, successor = np.asarray(tree.legal_action_mask), np.asarray(tree.successor)
    first, outcome = np.asarray(tree.first_to_move), np.asarray(tree.outcome)
    policy = np.zeros(legal.shape, np.float32)
    for seat, result in ((True, 1), (False, -1)):
        wins = (outcome == result).astype(float)
        # While neither side is winning, safe means keeping a draw or better.
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
def test_a_policy_loses_in_the_worst_case_where_a_losing_line_exists(
    tree, host_tree, best, seed
):
    legal, successor = np.asarray(tree.legal_action_mask), np.asarray(tree.successor)
    # Optimal but for a few moves: some of these can be beaten, in one seat or both.
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
    assert len(line) == 5  # X can't win sooner
    line = proof.losing_line(host_tree, policy, "first")
    assert line is not None
    assert len(line) == 6  # nor O


def test_one_losing_line_in_the_whole_tree_is_found(tree, host_tree, best, values):
    """An agent that a sampled match would nearly always pass."""
    policy = shared(best)
    # A position that X reaches only by one order of odd moves, where O errs.
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


def test_turned_and_mirrored_policies_fare_the_same(tree):
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
        # Where the view shows cell view[i] as i, it plays i where the policy would.
        seen = policy[turned]
        same = np.zeros_like(policy)
        same[:, view] = seen
        found = jax.tree.leaves(REPORT(tree, same))
        np.testing.assert_allclose(found, expected, atol=1e-6)
