"""Boards as text."""

import numpy as np
import pytest

from jax_ttt.games.game import Game
from jax_ttt.text import board_text
from jax_ttt.text.screen import LINES, Screen

PLAIN = Screen(input, print)
COLOURED = Screen(input, print, True, LINES)
MAGENTA, END = "\x1b[1;35m", "\x1b[0m"


def planes(first, second):
    """Return an observation with the first player to move, of rows such as `10.`."""
    return np.stack(
        [np.array([list(row) for row in rows]) == "1" for rows in (first, second)],
        axis=-1,
    )


WIDE = planes(["1000", "0000"], ["0010", "0001"])


def game_of(moves, env_id="tic_tac_toe"):
    """Return a game after these moves."""
    return Game.start(env_id, moves)


def rows_of(moves, screen, env_id="tic_tac_toe"):
    """Return the lines of the board after these moves."""
    return board_text.board_text(game_of(moves, env_id), screen).splitlines()


def test_a_grid_has_the_shape_of_the_board():
    """The first plane of an observation holds the stones of the player to move."""
    assert board_text.board_cells(WIDE, to_move="first").tolist() == [
        ["X", "-", "O", "-"],
        ["-", "-", "-", "O"],
    ]
    assert board_text.board_cells(WIDE, to_move="second").tolist() == [
        ["O", "-", "X", "-"],
        ["-", "-", "-", "X"],
    ]
    assert board_text.board_cells(WIDE, "first", free="")[0].tolist() == [
        "X",
        "",
        "O",
        "",
    ]


def test_more_planes_than_two_are_not_stones():
    history = np.concatenate([WIDE, np.ones_like(WIDE)], axis=-1)
    drawn = board_text.board_cells(history, to_move="first")
    assert drawn.tolist() == board_text.board_cells(WIDE, to_move="first").tolist()


def test_a_game_board_by_board(snapshot):
    assert board_text.game_boards(game_of([7, 3, 8, 5, 6])) == snapshot


def test_a_long_game_has_rows_of_boards_that_fit_a_terminal():
    moves = (3, 3, 3, 3, 3, 3, 0, 0, 0)
    blocks = [
        block.splitlines()
        for block in board_text.game_boards(game_of(moves, "connect_7x6")).split("\n\n")
    ]
    assert [len(block) for block in blocks] == [7] * 3
    assert max(len(line) for block in blocks for line in block) <= 80
    assert blocks[1][0].split() == ["5.", "X3", "6.", "O3", "7.", "X0", "8.", "O0"]


def test_every_position_has_its_own_string(host_tree):
    found = {
        board_text.cells_as_text(host_tree, p) for p in range(host_tree.num_positions)
    }
    assert len(found) == host_tree.num_positions
    for cells in found:
        assert cells.count("X") - cells.count("O") in (0, 1)


def test_a_board_is_found_as_it_is_written(host_tree):
    for position in host_tree.decisions[[0, 1, 100, 2000, 4519]].tolist():
        cells = board_text.cells_as_text(host_tree, position)
        assert board_text.find_position("tic_tac_toe", cells) == position


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ("X", "not 9 of X, O"),
        ("X---x----", "not 9 of X, O"),
        ("XX-------", "no play leads"),
        ("XXXOOO---", "no play leads"),
        ("XXXOO----", "the game is over"),
    ],
)
def test_a_board_that_is_none_is_refused(cells, why):
    with pytest.raises(ValueError, match=why):
        board_text.find_position("tic_tac_toe", cells)


def test_moves_are_on_cells_or_below_columns():
    small = board_text.board_text(game_of([4, 0]))
    assert small == "  O 1 2\n  3 X 5\n  6 7 8"
    below = board_text.board_text(game_of([3, 3, 0], "connect_4x4")).splitlines()
    assert below[2:] == ["  . . . O", "  X . . X", "  0 1 2 3"]
    assert "not drawn" in board_text.board_text(game_of([], "animal_shogi"))


def test_a_large_board_of_stones_is_drawn():
    rows = board_text.board_text(game_of([], "othello")).splitlines()
    assert [len(row.split()) for row in rows] == [8] * 8
    assert len(set(map(len, rows))) == 1, "also numbers of two digits"
    assert rows[3] == "   .  . 26  O  X  .  .  ."


def test_a_large_board_is_plain_and_its_last_stone_is_marked():
    """In connect_four the last move's column says not which stone it is."""
    rows = rows_of([3, 3, 3, 0], PLAIN, "connect_four")
    assert rows[2:] == [
        "  . . . . . . .",
        "  . . . X . . .",
        "  . . . O . . .",
        "  O . . X . . .",
        "  0 1 2 3 4 5 6",
    ]
    rows = rows_of([3, 3, 3, 0], COLOURED, "connect_four")
    assert rows[3].count(f"{MAGENTA}X{END}") == 1
    assert rows[5].startswith(f"  \x1b[1;4;34mO{END} ")
    rows = rows_of([3, 3, 3], COLOURED, "connect_four")
    assert [row.count("\x1b[1;4;35mX") for row in rows] == [0, 0, 0, 1, 0, 0, 0]


def test_a_small_board_has_lines_and_its_last_stone_is_marked():
    assert rows_of([4, 0], PLAIN) == [
        "  O | 1 | 2",
        " ---+---+---",
        "  3 | X | 5",
        " ---+---+---",
        "  6 | 7 | 8",
    ]
    rows = rows_of([4, 0], COLOURED)
    assert rows[0].startswith(f"  \x1b[1;4;34mO{END} │ ")
    assert f"│ {MAGENTA}X{END} │" in rows[2]


def test_numbers_of_two_digits_stay_in_their_boxes():
    rows = rows_of([5], PLAIN, "mnk_4x4_4")
    assert rows[2] == "   4 |  X |  6 |  7"
    assert rows[6] == "  12 | 13 | 14 | 15"
    assert rows[5] == " ----+----+----+----"


def test_the_numbers_on_a_board_may_be_other_than_the_legal_moves():
    for moves, env_id, shown in (
        ([4, 0], "tic_tac_toe", True),
        ([3] * 5, "connect_four", True),
        ([3] * 6, "connect_four", False),
        ([], "animal_shogi", False),
    ):
        assert board_text.shows_all_moves(game_of(moves, env_id)) == shown
