"""Minimax, compared with exact fractions and published constants."""

from fractions import Fraction

import numpy as np
import pytest
import rules

from jax_ttt.grading.grade import Lines
from jax_ttt.solver import minimax, outcomes, policies, proof


def as_board(rows):
    return "".join("-XO"[cell] for row in rows for cell in row)


@pytest.mark.parametrize(
    ("first", "second", "percent"),
    [
        ("random", "random", (58.492, 12.698, 28.810)),
        ("minimax", "random", (96.781, 3.219, 0)),
        ("random", "minimax", (0, 22.252, 77.748)),
        ("first", "random", (99.479, 0.521, 0)),
        ("random", "first", (0, 19.365, 80.635)),
        ("minimax", "minimax", (0, 100, 0)),
        ("minimax", "first", (0, 100, 0)),
        ("first", "minimax", (0, 100, 0)),
        ("first", "first", (0, 100, 0)),
    ],
)
def test_outcomes_to_nine_digits(host_tree, players, first, second, percent):
    found = outcomes.outcome(host_tree, players[first][0], players[second][0])
    fractions = rules.outcome(players[first][1], players[second][1])
    assert found == pytest.approx([float(f) for f in fractions], abs=1e-9)
    assert found == pytest.approx([p / 100 for p in percent], abs=5e-6)


def test_the_best_move_has_the_value_of_the_position_to_its_mover(host_tree):
    values = minimax.values(host_tree)
    best = minimax.to_mover(host_tree, values).max(axis=1)
    for seat, sign in (("first", 1), ("second", -1)):
        own = host_tree.moves_of(seat) & ~host_tree.terminal
        np.testing.assert_array_equal(best[own], sign * values[own])


def test_one_losing_line_of_seven_moves_loses_one_game_in_945(host_tree, position):
    """X must make four moves, with probabilities 1/9, 1/7, 1/5 and 1/3."""
    board, losing = "---XO---X", 2  # 0, 1, 6 and 7 keep the draw
    line = {board: [losing]}
    fractions = rules.outcome(rules.moves, lambda b: line.get(b, rules.first_best(b)))
    assert fractions[0] == Fraction(1, 9 * 7 * 5 * 3) == Fraction(1, 945)
    flawed = minimax.policy(host_tree, first_best=True)
    flawed[position[board]] = np.eye(9)[losing]
    found = outcomes.outcome(host_tree, policies.uniform(host_tree), flawed)
    assert found == pytest.approx([float(f) for f in fractions], abs=1e-12)
    assert proof.count_lines(host_tree, flawed, "second").lost == 1
    as_x = outcomes.outcome(host_tree, flawed, policies.uniform(host_tree))
    assert as_x.loss_rate == 0
    random_seat = (fractions[0] + 0) / 2
    assert random_seat == Fraction(1, 1890)
    assert round(100 * (1 - float(random_seat)) ** 1024) == 58  # % without a loss


def test_random_against_random_in_closed_form(host_tree, players):
    found = outcomes.outcome(host_tree, players["random"][0], players["random"][0])
    assert found == pytest.approx([737 / 1260, 8 / 63, 121 / 420], abs=1e-12)


def test_values_equal_those_of_an_independent_minimax(position, values):
    assert {board: values[p] for board, p in position.items()} == {
        board: rules.value(board) for board in position
    }


@pytest.mark.parametrize(
    ("rows", "value"),
    [
        ([[1, 0, -1], [1, 0, -1], [1, 0, 0]], 1),
        ([[1, 0, -1], [1, 0, -1], [0, 1, -1]], -1),
        ([[1, -1, 1], [1, 1, -1], [-1, 1, -1]], 0),
        ([[1, -1, 0], [1, 1, -1], [-1, 1, -1]], 0),
        ([[1, 0, 0], [1, -1, 1], [-1, 0, -1]], -1),
        ([[1, 0, 0], [1, -1, 1], [0, 0, -1]], -1),
    ],
)
def test_values_of_published_positions(position, values, rows, value):
    board = as_board(rows)
    assert rules.value(board) == value
    assert values[position[board]] == value


def test_a_published_position_move_by_move(host_tree, position, values):
    p = position[as_board([[1, 0, 0], [1, -1, 1], [0, 0, -1]])]
    legal = np.flatnonzero(host_tree.legal_action_mask[p]).tolist()
    worth = {a: values[host_tree.successor[p, a]] for a in legal}
    assert worth == {1: 1, 2: 1, 6: -1, 7: 1}
    assert np.flatnonzero(minimax.best_moves(host_tree, values)[p]).tolist() == [6]


def test_the_expert_of_the_web_page_as_second_player(host_tree):
    expert = minimax.policy(host_tree, discount=0.9, first_best=True)
    assert proof.count_lines(host_tree, expert, "second") == Lines(
        won=386, drawn=183, lost=0
    )
    found = outcomes.outcome(host_tree, policies.uniform(host_tree), expert)
    assert found == pytest.approx([0, 0.19365, 0.80635], abs=5e-6)


def test_a_quick_win_is_preferred(host_tree, position):
    quick = minimax.policy(host_tree, discount=0.9, first_best=True)
    slow = minimax.policy(host_tree, first_best=True)
    p = position["XX-OO----"]  # cell 2 wins immediately
    assert quick[p].argmax() == 2
    p = position["X-O-O-X--"]  # 3 and 8 keep the value; only 3 wins immediately
    assert rules.winner(rules.after("X-O-O-X--", 3)) == "X"
    assert quick[p].argmax() == 3
    assert slow[p].argmax() in rules.best_moves("X-O-O-X--")


def test_lines_of_a_random_player_are_all_games(host_tree, players):
    random = players["random"][0]
    as_first = proof.count_lines(host_tree, random, "first")
    assert as_first == Lines(won=131_184, drawn=46_080, lost=77_904)
    as_second = proof.count_lines(host_tree, random, "second")
    assert as_second == Lines(won=77_904, drawn=46_080, lost=131_184)
