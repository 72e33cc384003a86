"""The exact report of a policy."""

import numpy as np
import pytest
import rules

from jax_ttt.grading import exact as grades
from jax_ttt.solver import minimax, outcomes, policies


def test_optimal_moves_of_a_random_player(host_tree, position):
    rate = grades.optimal_move_rate(host_tree, policies.uniform(host_tree))
    decided = [b for b in position if rules.moves(b)]
    share = [len(rules.best_moves(b)) / len(rules.moves(b)) for b in decided]
    assert rate.all == pytest.approx(sum(share) / 4520)
    assert rate.reachable == pytest.approx(rate.all)  # it reaches them all
    assert rate.num_reachable == 4520


def test_q_error_is_the_mean_over_all_legal_moves(host_tree, q_star):
    """The errors are 0, 1, 4, 9 ... with alternating signs, over all 16,167 moves."""
    legal = host_tree.legal_action_mask[host_tree.decisions]
    n = int(legal.sum())
    assert n == 16_167
    off = np.zeros(legal.shape)
    off[legal] = np.arange(n) ** 2.0 * np.where(np.arange(n) % 2, -1, 1)
    off[~legal] = np.nan  # ignored
    found = grades.q_error(host_tree, q_star[host_tree.decisions] + off)
    assert found == pytest.approx((n - 1) * (2 * n - 1) / 6, rel=1e-12)
    one = np.zeros(legal.shape)
    one[-1, legal[-1].argmax()] = 1
    found = grades.q_error(host_tree, q_star[host_tree.decisions] + one)
    assert found == pytest.approx(1 / 16_167)


def test_the_two_players_of_best_moves_are_graded_apart(host_tree):
    random = policies.uniform(host_tree)
    found = grades.exactly(host_tree, random, ("first", "second")).opponents
    wins = {}
    for name, first_best in (("minimax", False), ("minimax-first", True)):
        best = minimax.policy(host_tree, first_best=first_best)
        wins[name] = float(outcomes.outcome(host_tree, best, random).win_rate)
        assert found[name]["second"].loss_rate == pytest.approx(wins[name])
    assert wins["minimax"] != pytest.approx(wins["minimax-first"], abs=1e-3)


def test_the_worst_case_opponent_prefers_a_win_to_a_draw(host_tree):
    """Against random, O wins more often if it avoids draws: 1774 of 1890, not 1762."""
    exact = grades.exactly(host_tree, policies.uniform(host_tree), ("first", "second"))
    assert exact.first.worst_loss_rate == pytest.approx(1774 / 1890)
    best = exact.opponents["best response"]["first"]
    assert best.loss_rate == pytest.approx(1762 / 1890)
    assert best.win_rate < exact.first.win_rate
