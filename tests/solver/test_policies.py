"""Passes over a tree: minimax, best responses and the most wins, by exact fractions."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
import rules

from jax_ttt.config.grade import Lines
from jax_ttt.solver import outcomes, policies

PLAYERS = {
    "random": (policies.uniform_policy, rules.moves),
    "minimax": (policies.minimax_policy, rules.best_moves),
    "first": (
        lambda tree: policies.minimax_policy(tree, first_best=True),
        rules.first_best,
    ),
}
"""Each player as a policy, and as a function of the independent rules."""


@pytest.mark.parametrize(
    ("first", "second", "percent"),
    [
        ("random", "random", (58.492, 12.698, 28.810)),
        ("minimax", "random", (96.781, 3.219, 0)),
        ("random", "minimax", (0, 22.252, 77.748)),
        ("first", "random", (99.479, 0.521, 0)),
        ("random", "first", (0, 19.365, 80.635)),
        ("first", "minimax", (0, 100, 0)),
    ],
)
def test_outcomes_to_nine_digits(host_tree, first, second, percent):
    policy_of = {name: make(host_tree) for name, (make, _) in PLAYERS.items()}
    outcome = outcomes.outcome(host_tree, policy_of[first], policy_of[second])
    fractions = rules.outcome(PLAYERS[first][1], PLAYERS[second][1])
    assert outcome == pytest.approx([float(f) for f in fractions], abs=1e-9)
    assert outcome == pytest.approx([p / 100 for p in percent], abs=5e-6)


def test_one_losing_line_of_seven_moves_loses_one_game_in_945(host_tree, position):
    """X must make four moves, with probabilities 1/9, 1/7, 1/5 and 1/3."""
    board, losing = "---XO---X", 2  # 0, 1, 6 and 7 keep the draw
    line = {board: [losing]}
    fractions = rules.outcome(rules.moves, lambda b: line.get(b, rules.first_best(b)))
    assert fractions[0] == Fraction(1, 9 * 7 * 5 * 3) == Fraction(1, 945)
    flawed = policies.minimax_policy(host_tree, first_best=True)
    flawed[position[board]] = np.eye(9)[losing]
    outcome = outcomes.outcome(host_tree, policies.uniform_policy(host_tree), flawed)
    assert outcome == pytest.approx([float(f) for f in fractions], abs=1e-12)
    assert outcomes.count_lines(host_tree, flawed, "second").lost == 1
    # In 1,024 games with random seats, it does not lose any with a chance of 58%.
    assert round(100 * (1 - float(fractions[0] / 2)) ** 1024) == 58


def test_values_equal_those_of_an_independent_minimax(host_tree, position, values):
    assert {board: values[p] for board, p in position.items()} == {
        board: rules.value(board) for board in position
    }
    best = policies.values_to_mover(host_tree, values).max(axis=1)
    for seat, sign in (("first", 1), ("second", -1)):
        is_mover = host_tree.turns_of(seat) & ~host_tree.terminal
        np.testing.assert_array_equal(best[is_mover], sign * values[is_mover])


def test_with_a_discount_a_quick_win_is_preferred(host_tree, position):
    """It is the expert of the web page; the counts are of its games as O."""
    quick = policies.minimax_policy(host_tree, discount=policies.QUICK, first_best=True)
    assert quick[position["XX-OO----"]].argmax() == 2  # wins immediately
    # 3 and 8 keep the value; only 3 wins immediately.
    assert quick[position["X-O-O-X--"]].argmax() == 3
    lines = outcomes.count_lines(host_tree, quick, "second")
    assert lines == Lines(won=386, drawn=183, lost=0)


def test_a_mixed_policy_plays_at_random_with_the_given_chance(host_tree):
    first = policies.share_equally(policies.first_marked(host_tree.legal_action_mask))
    mixed = policies.mix_with_random(host_tree, 0.25, first)
    np.testing.assert_allclose(mixed[0], [0.75 + 0.25 / 9, *[0.25 / 9] * 8])
    np.testing.assert_allclose(mixed.sum(axis=1), ~host_tree.terminal)


def test_lines_of_a_random_player_are_all_games(host_tree):
    random = policies.uniform_policy(host_tree)
    as_first = outcomes.count_lines(host_tree, random, "first")
    assert as_first == Lines(won=131_184, drawn=46_080, lost=77_904)
    as_second = outcomes.count_lines(host_tree, random, "second")
    assert as_second == Lines(won=77_904, drawn=46_080, lost=131_184)


def test_in_tic_tac_toe_x_draws_1_game_in_192_and_o_79_in_945(host_tree):
    as_first = policies.most_wins(host_tree, "first")
    as_second = policies.most_wins(host_tree, "second")
    assert as_first == pytest.approx(Fraction(191, 192), abs=1e-12)
    assert as_second == pytest.approx(Fraction(866, 945), abs=1e-12)
    random, best = (
        policies.uniform_policy(host_tree),
        policies.minimax_policy(host_tree),
    )
    assert outcomes.outcome(host_tree, best, random)[0] < as_first
    assert outcomes.outcome(host_tree, random, best)[2] < as_second


def test_without_a_player_that_never_loses_there_is_no_rate(host_tree):
    """If X wins every game, every O loses."""
    always_won = np.where(host_tree.terminal, 1, 0)
    tree = dataclasses.replace(host_tree, outcome=always_won)
    assert policies.most_wins(tree, "second") == -np.inf
    assert policies.most_wins(tree, "first") == 1
