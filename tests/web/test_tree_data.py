"""The tree that the page reads: rules, results and exact values as in `rules`."""

import base64
import json

import numpy as np
import pytest
import rules

from jax_ttt.web import tree_data


@pytest.fixture(scope="module")
def data():
    return json.loads(tree_data.tree_json("tic_tac_toe"))


@pytest.fixture(scope="module")
def read(data):
    """Return a function that reads an array of the data."""

    def array(name, dtype):
        return np.frombuffer(base64.b64decode(data[name]), dtype)

    return array


def test_every_board_move_and_result_is_that_of_the_rules(data, read, boards, position):
    cells, first = read("cells", "u1").reshape(-1, 9), read("first_to_move", "u1")
    successor = read("successor", "<u2").reshape(-1, 9)
    result = read("result", "i1")
    assert data["num_positions"] == len(boards) == 5478
    for p, board in enumerate(boards):
        assert "".join("-XO"[cell] for cell in cells[p]) == board
        assert ("X" if first[p] else "O") == rules.mover(board) or result[p] != 3
        after = {
            cell: position[rules.after(board, cell)] for cell in rules.moves(board)
        }
        assert {a: int(q) for a, q in enumerate(successor[p]) if q} == after
        over = not rules.moves(board)
        won = {"X": 1, "O": -1, None: 0}[rules.winner(board)]
        assert result[p] == (won if over else tree_data.NOT_OVER)


def test_exact_values_are_those_of_the_rules(read, boards):
    exact = read("exact", "i1")
    assert [int(value) for value in exact] == [rules.value(board) for board in boards]


def test_each_decision_has_the_actions_in_the_order_of_its_canonical_board(
    data, read, host_tree
):
    orders = np.array(data["orders"])
    assert (np.sort(orders, axis=1) == np.arange(9)).all()
    order = orders[read("order", "u1")[host_tree.decisions]]
    found = np.take_along_axis(host_tree.classes.actions, order, axis=1)
    assert (np.diff(found, axis=1) >= 0).all()
    images = np.diff(found, axis=1) == 0
    assert (np.diff(order, axis=1)[images] > 0).all()


def test_the_lines_are_found_in_the_tree(data):
    found = {"".join(map(str, line)) for line in data["lines"]}
    assert found == set(rules.LINES)


def test_each_win_has_exactly_its_complete_lines(data, read, boards):
    marked = read("won_lines", "<u2")
    for bits, board in zip(marked, boards, strict=True):
        held = {
            "".join(map(str, line))
            for line in data["lines"]
            if len({board[cell] for cell in line}) == 1 and board[line[0]] != "-"
        }
        lines = data["lines"]
        shown = {"".join(map(str, x)) for i, x in enumerate(lines) if bits >> i & 1}
        assert shown == held


def moves_left(board, seen):
    """Return the moves until the end of a decided game; wins are quick, losses late."""
    if board not in seen:
        worth = rules.value(board)
        left = [
            1 + moves_left(rules.after(board, cell), seen)
            for cell in rules.best_moves(board)
        ]
        mover_wins = (worth == 1) == (rules.mover(board) == "X")
        best = min if mover_wins else max
        seen[board] = best(left, default=0) if worth else 0
    return seen[board]


def test_moves_left_of_decided_games(read, boards):
    left, seen = read("moves_left", "u1"), {}
    for found, board in zip(left, boards, strict=True):
        assert found == moves_left(board, seen), board


def test_a_game_that_is_too_large_is_refused():
    with pytest.raises(ValueError, match="too large"):
        tree_data.tree_json("connect_four")
