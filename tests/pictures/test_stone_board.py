"""Boards of stones: which shapes, where, and which move was last."""

from typing import Any

import numpy as np

from jax_ttt.pictures import stone_board
from jax_ttt.pictures.shapes import Label, Line, Ring, Tile

LOOK = stone_board.Look("blue", "orange", "white", "grey", 60)


def cells(*boards):
    """Return boards written row by row, `(B, 3, 3)`."""
    return np.array([list(board) for board in boards], object).reshape(-1, 3, 3)


def shapes_of(kind, boards, numbers=None) -> list[Any]:
    numbers = np.zeros(boards.shape, int) if numbers is None else numbers
    drawn = stone_board.board_shapes(boards, ("X", "O"), numbers, LOOK)
    return [shape for shape in drawn if isinstance(shape, kind)]


def test_each_stone_is_a_cross_or_a_ring_in_its_cell():
    boards = cells("X---O----")
    assert len(shapes_of(Tile, boards)) == 9
    (ring,) = shapes_of(Ring, boards)
    assert ring.centre == (100, 100)
    assert ring.colour == "orange"
    lines = shapes_of(Line, boards)
    assert len(lines) == 2
    assert {line.colour for line in lines} == {"blue"}
    for line in lines:
        middle = np.add(line.start, line.end) / 2
        np.testing.assert_allclose(middle, (40, 40))


def test_stones_are_numbered_by_their_moves():
    game = [cells(b) for b in ("---------", "----X----", "O---X----", "O---X---X")]
    numbers = stone_board.move_numbers(game, "-")
    assert [n.ravel().tolist() for n in numbers] == [
        [0] * 9,
        [0, 0, 0, 0, 1, 0, 0, 0, 0],
        [2, 0, 0, 0, 1, 0, 0, 0, 0],
        [2, 0, 0, 0, 1, 0, 0, 0, 3],
    ]
    shown = {label.text for label in shapes_of(Label, game[3], numbers[3])}
    assert shown == {"1", "2", "3"}


def test_a_stone_that_changes_its_owner_keeps_its_number_and_a_removed_one_loses_it():
    game = [cells(b) for b in ("X--------", "XO-------", "OO-------", "-O-------")]
    numbers = stone_board.move_numbers(game, "-")
    assert [n.ravel()[:2].tolist() for n in numbers] == [[0, 0], [0, 1], [0, 1], [0, 1]]
    numbers = stone_board.move_numbers([game[1], game[0]], "-")
    assert not numbers[1].any()


def test_the_last_move_has_a_border():
    boards = cells("X---O----", "X--------")
    numbers = np.zeros(boards.shape, int)
    numbers[:, 0, 0], numbers[0, 1, 1] = 1, 2
    bordered = [tile for tile in shapes_of(Tile, boards, numbers) if tile.border]
    assert [tile.border_colour for tile in bordered] == ["orange", "blue"]
    assert not any(tile.border for tile in shapes_of(Tile, boards))
