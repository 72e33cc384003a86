"""docs/game_values.py: the values of small boards, beside a search without tricks."""

import random
import runpy
from pathlib import Path

import four_in_a_row
import pytest

SCRIPT = Path(__file__).parents[1] / "docs" / "game_values.py"
SEARCH = runpy.run_path(str(SCRIPT))["Search"]


@pytest.mark.parametrize("size", [(4, 4), pytest.param((5, 4), marks=pytest.mark.slow)])
def test_small_boards_are_draws(size):
    """As is known."""
    assert SEARCH(*size).value() == 0


@pytest.mark.parametrize(("width", "height"), [(4, 5), (6, 4)])
def test_late_positions_have_the_values_of_all_lines(width, height):
    rng, values = random.Random(0), set()
    for _ in range(40):
        columns = [c for c in range(width) for _ in range(height)]
        rng.shuffle(columns)
        board = ("",) * width
        for column in columns[: width * height - 6]:
            board = four_in_a_row.after_move(board, column)
        if any(four_in_a_row.has_won(board, height, stone) for stone in "XO"):
            continue
        bits = {"X": 0, "O": 0}
        for x, column in enumerate(board):
            for y, stone in enumerate(column):
                bits[stone] |= 1 << x * (height + 1) + y
        mine, mask = bits[four_in_a_row.mover(board)], bits["X"] | bits["O"]
        search = SEARCH(width, height)
        value = search._value(mine, mask, -1, 1)
        assert value == four_in_a_row.value(board, height)
        assert max(search._value(mine, mask, 0, 1), 0) == max(value, 0)
        values.add(value)
    assert values == {-1, 0, 1}
