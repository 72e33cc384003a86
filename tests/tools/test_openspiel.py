"""OpenSpiel's learners are graded by their moves."""

import numpy as np
import pytest
import rules

from jax_ttt.solver import minimax
from tools.benchmarks import openspiel


def text(board):
    """Return OpenSpiel's string of a board: the planes of empty cells, O and X."""
    return str([float(cell == stone) for stone in "-OX" for cell in board])


def boards_below(board, found):
    """Add the board and all boards reachable from it to `found`."""
    if board not in found:
        found.add(board)
        for cell in rules.moves(board):
            boards_below(rules.after(board, cell), found)


@pytest.fixture(scope="module")
def perfect():
    """Return two tables with the exact values of all moves."""
    found, tables = set(), ({}, {})
    boards_below("-" * 9, found)
    for board in found:
        sign = 1.0 if rules.mover(board) == "X" else -1.0
        worth = {
            c: sign * rules.value(rules.after(board, c)) for c in rules.moves(board)
        }
        if worth:
            tables["XO".index(rules.mover(board))][text(board)] = worth
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
    np.testing.assert_array_equal(
        first_move({4: -0.1}), np.delete(np.eye(9), 4, 0).mean(0)
    )
    np.testing.assert_array_equal(first_move({2: 0.1, 6: 0.2}), np.eye(9)[6])
    np.testing.assert_array_equal(
        first_move({2: 0.2, 6: 0.2}), np.eye(9)[[2, 6]].mean(0)
    )


@pytest.mark.parametrize("board", ["X--------", "XXXOO----", "nonsense"])
def test_a_board_that_is_not_the_learners_own_is_refused(board, host_tree):
    with pytest.raises(ValueError, match="not a board where this learner moves"):
        openspiel.pair_policy(host_tree, [{text(board): {1: 0.5}}, {}])


@pytest.mark.slow
def test_a_pair_of_openspiels_learners_is_trained_and_graded(monkeypatch):
    pytest.importorskip("open_spiel")
    monkeypatch.setattr(openspiel, "CHECK_EVERY", 500)
    (_, early), (spent, late) = openspiel.pair_evaluations(5, 1000)
    assert (spent.games, spent.updates) == (1000, 1000)
    assert early.rates["first"].win_rate != late.rates["first"].win_rate
