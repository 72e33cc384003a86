"""OpenSpiel's learners are graded by their moves."""

import numpy as np
import pytest
import rules

from jax_ttt.solver import minimax
from tools.benchmarks import openspiel


def text(board):
    """Return OpenSpiel's string of a board: the planes of empty cells, O and X."""
    return str([float(cell == stone) for stone in "-OX" for cell in board])


def add_boards(board, boards):
    """Add the board and all boards reachable from it to `boards`."""
    if board not in boards:
        boards.add(board)
        for cell in rules.moves(board):
            add_boards(rules.after(board, cell), boards)


@pytest.fixture(scope="module")
def perfect():
    """Return two tables with the exact values of all moves."""
    boards, tables = set(), ({}, {})
    add_boards("-" * 9, boards)
    for board in boards:
        sign = 1.0 if rules.mover(board) == "X" else -1.0
        values = {
            c: sign * rules.value(rules.after(board, c)) for c in rules.moves(board)
        }
        if values:
            tables["XO".index(rules.mover(board))][text(board)] = values
    return tables


def test_board_strings_are_those_of_openspiel(host_tree):
    strings = openspiel.boards(host_tree)
    assert len(set(strings)) == 4520
    # From OpenSpiel 2.0.2: the empty board, and X in the centre with O in a corner.
    assert strings[0] == str([1.0] * 9 + [0.0] * 18)
    assert (
        "[0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, "
        "1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, "
        "0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]"
    ) in strings


def test_a_pair_with_exact_values_plays_every_best_move(host_tree, perfect):
    probs = openspiel.pair_policy(host_tree, perfect)
    np.testing.assert_array_equal(probs, minimax.policy(host_tree))


def test_moves_that_were_never_tried_have_the_value_0(host_tree):
    def first_move(values):
        return openspiel.pair_policy(host_tree, [{text("-" * 9): values}, {}])[0]

    np.testing.assert_array_equal(first_move({}), np.full(9, 1 / 9))
    others = np.delete(np.eye(9), 4, 0).mean(0)
    np.testing.assert_array_equal(first_move({4: -0.1}), others)


def test_a_board_where_the_learner_does_not_move_is_an_error(host_tree):
    for board in ("X--------", "XXXOO----"):
        with pytest.raises(ValueError, match="not a board where this learner moves"):
            openspiel.pair_policy(host_tree, [{text(board): {1: 0.5}}, {}])


@pytest.mark.slow
def test_a_pair_of_openspiels_learners_is_trained_and_graded(monkeypatch):
    pytest.importorskip("open_spiel")
    monkeypatch.setattr(openspiel, "CHECK_EVERY", 500)
    (_, early), (spent, late) = openspiel.pair_evaluations(5, 1000)
    assert (spent.games, spent.updates) == (1000, 1000)
    assert early.rates["first"].win_rate != late.rates["first"].win_rate
