"""docs/game_values.py: the values of small boards, beside a search without tricks."""

import random
import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "docs" / "game_values.py"
SEARCH = runpy.run_path(str(SCRIPT))["Search"]


@pytest.mark.parametrize("size", [(4, 4), pytest.param((5, 4), marks=pytest.mark.slow)])
def test_small_boards_are_draws(size):
    """As is known."""
    assert SEARCH(*size).value() == 0


def has_row(cells):
    """Return whether four cells (column, row) are in a row."""
    return any(
        all((c + n * right, r + n * up) in cells for n in range(4))
        for c, r in cells
        for right, up in ((0, 1), (1, 0), (1, 1), (1, -1))
    )


def plain_value(width, height, mine, other):
    """Return the value to the player to move, by all lines of play."""
    best = -1
    stones = mine | other
    if len(stones) == width * height:
        return 0
    for column in range(width):
        row = sum(c == column for c, _ in stones)
        if row < height:
            after = mine | {(column, row)}
            if has_row(after):
                return 1
            best = max(best, -plain_value(width, height, other, after))
    return best


@pytest.mark.parametrize(("width", "height"), [(4, 5), (6, 4)])
def test_late_positions_have_the_values_of_all_lines(width, height):
    rng, values = random.Random(0), set()
    for _ in range(40):
        columns = [c for c in range(width) for _ in range(height)]
        rng.shuffle(columns)
        stones, heights = (frozenset(), frozenset()), [0] * width
        for column in columns[: width * height - 6]:
            mine = stones[0] | {(column, heights[column])}
            heights[column] += 1
            stones = stones[1], mine
        if any(map(has_row, stones)):
            continue
        mine, other = (
            sum(1 << column * (height + 1) + row for column, row in cells)
            for cells in stones
        )
        search = SEARCH(width, height)
        value = search._value(mine, mine | other, -1, 1)
        assert value == plain_value(width, height, *stones)
        assert max(search._value(mine, mine | other, 0, 1), 0) == max(value, 0)
        values.add(value)
    assert values == {-1, 0, 1}
