"""The values of moves, on boards and as a table."""

import numpy as np

from jax_ttt.players.analysis import MoveValue
from jax_ttt.text import advice
from jax_ttt.text.screen import LINES, Screen

PLAIN = Screen(input, print)
COLOURED = Screen(input, print, True, LINES)


def test_values_are_drawn_side_by_side(snapshot):
    """X has 4 and 8, O 0 and 1: X must take 2, which wins by 2-5-8 and 2-4-6."""
    cells = np.array([["O", "O", 2], [3, "X", 5], [6, 7, "X"]], object)
    exact = {move: 1.0 if move == 2 else -1.0 for move in (2, 3, 5, 6, 7)}
    learned = {2: 0.5, 3: -0.25, 5: 0.125, 6: -1.0, 7: 0.0}
    text = advice.value_boards(cells, exact, learned, PLAIN)
    assert text == snapshot


def test_a_layer_that_is_not_known_is_left_out():
    cells = np.arange(4).astype(object).reshape(2, 2)
    learned = {move: move / 4 for move in range(4)}
    exact = {move: -1.0 + (move > 1) for move in range(4)}
    text = advice.value_boards(cells, {}, learned, COLOURED)
    assert "best play" not in text
    assert text.count("\x1b[1m") == text.count("\x1b[1m+0.750") == 1
    text = advice.value_boards(cells, exact, {}, COLOURED)
    assert "the agent" not in text
    assert text.count("\x1b[31mloses\x1b[0m") == text.count("draws") == 2


def test_moves_are_ordered_by_the_agents_values_if_there_are_any():
    """Of equal moves, the lowest comes first; at most twelve are listed."""

    def listed(worth):
        table = advice.values_table("it", worth).splitlines()
        return [int(row.split()[0]) for row in table[1:]]

    worth = [MoveValue(0, 1.0, -0.5), MoveValue(4, -1.0, 0.25), MoveValue(8, 0.0, 0.25)]
    assert listed(worth) == [4, 8, 0]
    assert listed([row._replace(q_value=None) for row in worth]) == [0, 8, 4]
    many = [MoveValue(move, None, move / 100) for move in range(50)]
    assert listed(many) == list(range(49, 37, -1))
    assert advice.values_table("it", []) == "it has no values to show"
