"""The exact grade of a policy over a game's tree."""

import functools

import numpy as np
import pytest
import rules

from jax_ttt.config.game_facts import SEATS
from jax_ttt.grading import tree_grade
from jax_ttt.solver import outcomes, policies

ENV = "tic_tac_toe"


@pytest.fixture(scope="module")
def random_grade(host_tree):
    """Return the grade of a random player."""
    probs = policies.uniform_policy(host_tree)
    return tree_grade.grade_policy(ENV, host_tree, probs, "construction")


def test_optimal_moves_of_a_random_player(random_grade, position):
    """It reaches all positions."""
    decided = [board for board in position if rules.moves(board)]
    share = {b: len(rules.best_moves(b)) / len(rules.moves(b)) for b in decided}
    rate = pytest.approx(sum(share.values()) / 4520)
    assert random_grade.details.optimal_move_rate == rate
    assert random_grade.details.reachable_optimal_move_rate == rate
    assert random_grade.details.num_reachable == 4520
    for letter, seat in zip("XO", SEATS, strict=True):
        seat_shares = [share[b] for b in decided if rules.mover(b) == letter]
        seat_rate = random_grade.followed[seat].optimal_move_rate
        assert seat_rate == pytest.approx(np.mean(seat_shares))


@pytest.mark.parametrize("first_best", [False, True])
def test_best_play_is_unbeatable_and_plays_only_best_moves(first_best, host_tree):
    probs = policies.minimax_policy(host_tree, first_best=first_best)
    grade = tree_grade.grade_policy(ENV, host_tree, probs, "construction")
    assert grade.unbeatable is True
    assert grade.shortest_loss is None
    assert grade.details is not None
    assert grade.details.exploitability == 0
    assert grade.details.optimal_move_rate == pytest.approx(1)
    assert grade.details.reachable_optimal_move_rate == pytest.approx(1)
    for seat in grade.followed.values():
        assert seat.loss_rate == seat.worst_loss_rate == 0
        assert seat.lines is not None
        assert seat.lines.lost == 0
        assert seat.optimal_move_rate == pytest.approx(1)


def test_exploitability_of_a_player_that_always_loses_is_one(host_tree, row_by_row):
    grade = tree_grade.grade_policy(ENV, host_tree, row_by_row.policy, "construction")
    assert grade.details is not None
    assert grade.details.exploitability == 1
    assert grade.shortest_loss is not None


@pytest.mark.parametrize("player", ["first cell", "random"])
def test_a_grade_of_the_seats_is_the_same_without_the_details(
    player, host_tree, row_by_row
):
    random = policies.uniform_policy(host_tree)
    policy = row_by_row.policy if player == "first cell" else random
    grade_policy = functools.partial(
        tree_grade.grade_policy, ENV, host_tree, policy, "construction", ("second",)
    )
    full, short = grade_policy(), grade_policy(with_details=False)
    assert short.details is None
    assert (short.seats, short.unbeatable) == (full.seats, full.unbeatable)
    for seat in SEATS:
        one, other = (vars(grade.seat(seat)).copy() for grade in (full, short))
        for name in ("win_rate", "draw_rate", "loss_rate", "worst_loss_rate"):
            assert one.pop(name) == pytest.approx(other.pop(name))
        assert one == other


def test_rates_against_random_are_those_of_the_seat(random_grade):
    """X of two random players wins 58.492% and draws 12.698%."""
    assert random_grade.first.rates == pytest.approx(
        [0.58492, 0.12698, 0.2881], abs=1e-5
    )
    mirrored = random_grade.first.rates[::-1]
    np.testing.assert_allclose(random_grade.second.rates, mirrored, atol=1e-12)
    for seat in SEATS:
        random = random_grade.details.opponents["random"].seat(seat)
        assert random_grade.followed[seat].rates == random.rates


def test_q_error_is_the_mean_over_all_legal_moves(host_tree, q_star):
    """The errors are 0, 1, 4, 9 ... with alternating signs, over all 16,167 moves."""
    legal = host_tree.legal_action_mask[host_tree.decisions]
    num_moves = int(legal.sum())
    assert num_moves == 16_167
    number = np.arange(num_moves)
    errors = np.full(legal.shape, np.nan)  # ignored where a move is illegal
    errors[legal] = number**2.0 * np.where(number % 2, -1, 1)
    q_error = tree_grade.q_error(host_tree, q_star[host_tree.decisions] + errors)
    mean = (num_moves - 1) * (2 * num_moves - 1) / 6
    assert q_error == pytest.approx(mean, rel=1e-12)


def test_the_two_players_of_best_moves_are_opponents_of_their_own(
    host_tree, random_grade
):
    random, wins = policies.uniform_policy(host_tree), {}
    for name, first_best in (("minimax", False), ("minimax-first", True)):
        best = policies.minimax_policy(host_tree, first_best=first_best)
        wins[name] = float(outcomes.outcome(host_tree, best, random)[0])
        as_second = random_grade.details.opponents[name].second
        assert as_second.loss_rate == pytest.approx(wins[name])
    assert wins["minimax"] != pytest.approx(wins["minimax-first"], abs=1e-3)
