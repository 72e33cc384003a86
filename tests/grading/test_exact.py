"""The exact grade of a policy over a game's tree."""

import numpy as np
import pytest
import rules

from jax_ttt.config.game_facts import SEATS
from jax_ttt.grading import exact
from jax_ttt.solver import minimax, outcomes, policies

ENV = "tic_tac_toe"


@pytest.fixture(scope="module")
def of_random(host_tree):
    """Return the grade of a random player."""
    return exact.grade_policy(ENV, host_tree, policies.uniform(host_tree))


def test_optimal_moves_of_a_random_player(of_random, position):
    decided = [b for b in position if rules.moves(b)]
    share = {b: len(rules.best_moves(b)) / len(rules.moves(b)) for b in decided}
    rate = of_random.details.optimal_move_rate
    assert rate == pytest.approx(sum(share.values()) / 4520)
    # It reaches them all.
    assert of_random.details.reachable_optimal_move_rate == pytest.approx(rate)
    assert of_random.details.num_reachable == 4520
    for letter, seat in zip("XO", SEATS, strict=True):
        own = [share[b] for b in decided if rules.mover(b) == letter]
        found = of_random.seat(seat).optimal_move_rate
        assert found == pytest.approx(np.mean(own))


def test_best_play_is_unbeatable_and_plays_only_best_moves(host_tree):
    for first_best in (False, True):
        probs = minimax.policy(host_tree, first_best=first_best)
        grade = exact.grade_policy(ENV, host_tree, probs)
        assert grade.unbeatable is True
        assert grade.shortest_loss is None
        assert grade.details is not None
        assert grade.details.exploitability == 0
        assert grade.details.optimal_move_rate == pytest.approx(1)
        assert grade.details.reachable_optimal_move_rate == pytest.approx(1)
        for seat in grade.followed.values():
            assert seat.loss_rate == seat.worst_loss_rate == 0
            assert seat.optimal_move_rate == pytest.approx(1)
            assert seat.lines is not None
            assert seat.lines.lost == 0


def test_exploitability_of_a_player_that_always_loses_is_one(host_tree):
    first_cell = policies.share_equally(
        minimax.first_marked(host_tree.legal_action_mask)
    )
    grade = exact.grade_policy(ENV, host_tree, first_cell)
    assert grade.details is not None
    assert grade.details.exploitability == 1
    assert grade.shortest_loss is not None


def test_rates_against_random_are_those_of_the_followed_lines(host_tree, of_random):
    """X of two random players wins 58.492 % and draws 12.698 %."""
    for seat in SEATS:
        random = of_random.details.opponents["random"].seat(seat)
        assert of_random.seat(seat).rates == random.rates
    assert of_random.first.win_rate == pytest.approx(0.58492, abs=1e-5)
    assert of_random.first.draw_rate == pytest.approx(0.12698, abs=1e-5)
    mirrored = of_random.first.rates[::-1]
    np.testing.assert_allclose(of_random.second.rates, mirrored, atol=1e-12)


def test_q_error_is_the_mean_over_all_legal_moves(host_tree, q_star):
    """The errors are 0, 1, 4, 9 ... with alternating signs, over all 16,167 moves."""
    legal = host_tree.legal_action_mask[host_tree.decisions]
    n = int(legal.sum())
    assert n == 16_167
    off = np.zeros(legal.shape)
    off[legal] = np.arange(n) ** 2.0 * np.where(np.arange(n) % 2, -1, 1)
    off[~legal] = np.nan  # ignored
    found = exact.q_error(host_tree, q_star[host_tree.decisions] + off)
    assert found == pytest.approx((n - 1) * (2 * n - 1) / 6, rel=1e-12)
    one = np.zeros(legal.shape)
    one[-1, legal[-1].argmax()] = 1
    found = exact.q_error(host_tree, q_star[host_tree.decisions] + one)
    assert found == pytest.approx(1 / 16_167)


def test_the_two_players_of_best_moves_are_graded_apart(host_tree, of_random):
    random = policies.uniform(host_tree)
    wins = {}
    for name, first_best in (("minimax", False), ("minimax-first", True)):
        best = minimax.policy(host_tree, first_best=first_best)
        wins[name] = float(outcomes.outcome(host_tree, best, random).win_rate)
        found = of_random.details.opponents[name].second
        assert found.loss_rate == pytest.approx(wins[name])
    assert wins["minimax"] != pytest.approx(wins["minimax-first"], abs=1e-3)


def test_the_worst_case_opponent_prefers_a_win_to_a_draw(of_random):
    """Against random, O wins more often if it avoids draws: 1774 of 1890, not 1762."""
    assert of_random.first.worst_loss_rate == pytest.approx(1774 / 1890)
    best = of_random.details.opponents["best response"].first
    assert best.loss_rate == pytest.approx(1762 / 1890)
    assert best.win_rate < of_random.first.win_rate
