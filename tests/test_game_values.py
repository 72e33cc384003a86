"""docs/game_values.py: the values of small boards, beside a search without tricks."""

import ast
import itertools
import random
import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "docs" / "game_values.py"
SEARCH = runpy.run_path(str(SCRIPT))["Search"]
LADDER = ["4x4", "5x4", "4x5", pytest.param("5x5", marks=pytest.mark.slow)]


@pytest.mark.parametrize("board", LADDER)
def test_small_boards_are_draws(board):
    """As is known; 5x5 takes about 10 seconds."""
    search = SEARCH(*map(int, board.split("x")))
    assert search.value() == 0
    assert search.bounds


def has_row(cells):
    """Return whether four cells (column, row) are in a row."""
    return any(
        all((c + n * right, r + n * up) in cells for n in range(4))
        for c, r in cells
        for right, up in ((0, 1), (1, 0), (1, 1), (1, -1))
    )


def plain_value(width, height, own, other):
    """Return the value to the player to move, by all lines of play."""
    best = -1
    taken = own | other
    if len(taken) == width * height:
        return 0
    for column in range(width):
        row = sum(c == column for c, _ in taken)
        if row == height:
            continue
        mine = own | {(column, row)}
        if has_row(mine):
            return 1
        best = max(best, -plain_value(width, height, other, mine))
    return best


@pytest.mark.parametrize("size", [(4, 4), (5, 4), (4, 5), (6, 4)])
def test_late_positions_have_the_values_of_all_lines(size):
    width, height = size
    pick, found = random.Random(0), []
    for _ in range(60):
        columns = [c for c in range(width) for _ in range(height)]
        pick.shuffle(columns)
        stones, heights = (frozenset(), frozenset()), [0] * width
        for column in columns[: width * height - 6]:
            mover = stones[0] | {(column, heights[column])}
            heights[column] += 1
            stones = stones[1], mover
        if any(map(has_row, stones)):
            continue
        own, other = (
            sum(1 << column * (height + 1) + row for column, row in cells)
            for cells in stones
        )
        search = SEARCH(width, height)
        value = search._value(own, own | other, -1, 1)
        assert value == plain_value(width, height, *stones)
        assert max(search._value(own, own | other, 0, 1), 0) == max(value, 0)
        found.append(value)
    assert set(found) == {-1, 0, 1}


def test_completing_cells_are_those_of_all_rows():
    """On random boards; a stone that lies under others makes no upright row."""
    width, height, pick = 6, 5, random.Random(1)
    search = SEARCH(width, height)
    cells = list(itertools.product(range(width), range(height)))
    for _ in range(200):
        own = {cell for cell in cells if pick.random() < 0.4}
        if has_row(own):
            continue
        bits = {(c, r): 1 << c * (height + 1) + r for c, r in cells}
        number = sum(bits[cell] for cell in own)
        free = [x for x in cells if not any(x[0] == c and x[1] <= r for c, r in own)]
        expected = sum(bits[cell] for cell in free if has_row(own | {cell}))
        there = sum(bits[cell] for cell in free)
        assert search.completing(number, number) & there == expected


def test_it_uses_nothing_of_the_package():
    tree = ast.parse(SCRIPT.read_text("utf-8"))
    names = [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    ]
    assert names == ["sys", "time"]
