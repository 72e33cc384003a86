"""Boards as text."""

import numpy as np
import pytest

from jax_ttt.games.played_game import Game
from jax_ttt.text import board_text
from jax_ttt.text.screen import LINES, Screen

PLAIN = Screen(input, print)
COLOURED = Screen(input, print, True, LINES)
MAGENTA, END = "\x1b[1;35m", "\x1b[0m"


def board_rows(moves, screen, env_id="tic_tac_toe"):
    """Return the lines of the board after these moves."""
    return board_text.board_text(Game.start(env_id, moves), screen).splitlines()


def test_the_first_plane_has_the_stones_of_the_player_to_move():
    """A third plane is not drawn."""
    obs = np.zeros((2, 4, 3), bool)
    obs[0, 0, 0] = obs[0, 2, 1] = obs[1, 3, 1] = obs[0, 1, 2] = True
    drawn = [
        "".join(board_text.board_cells(obs, to_move).flat)
        for to_move in ("first", "second")
    ]
    assert drawn == ["X-O----O", "O-X----X"]
    assert board_text.board_cells(obs, "first", free="")[0].tolist() == [
        *"X",
        "",
        "O",
        "",
    ]


def test_a_game_board_by_board(snapshot):
    game = Game.start("tic_tac_toe", [7, 3, 8, 5, 6])
    assert board_text.game_boards(game) == snapshot


def test_a_long_game_has_rows_of_boards_that_fit_a_terminal():
    game = Game.start("connect_7x6", (3, 3, 3, 3, 3, 3, 0, 0, 0))
    text = board_text.game_boards(game)
    blocks = [block.splitlines() for block in text.split("\n\n")]
    assert [len(block) for block in blocks] == [7] * 3
    assert max(map(len, text.splitlines())) <= 80
    assert blocks[1][0].split() == ["5.", "X4", "6.", "O4", "7.", "X1", "8.", "O1"]


def test_every_position_has_its_own_string(boards, host_tree):
    assert len(set(boards)) == host_tree.num_positions
    for position in host_tree.decisions[[0, 1, 100, 2000, 4519]].tolist():
        cells = boards[position]
        assert cells.count("X") - cells.count("O") in (0, 1)
        assert board_text.find_position("tic_tac_toe", cells) == position


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ("X---x----", "not 9 cells, each X, O"),
        ("XX-------", "no play leads"),
        ("XXXOOO---", "no play leads"),
        ("XXXOO----", "the game is over"),
    ],
)
def test_other_boards_are_refused(cells, reason):
    with pytest.raises(ValueError, match=reason):
        board_text.find_position("tic_tac_toe", cells)


def test_moves_are_on_cells_or_below_columns():
    """The numbers below columns are not all legal moves if a column is full."""
    for moves, shows_all in ([3] * 5, True), ([3] * 6, False):
        game = Game.start("connect_four", moves)
        assert board_text.shows_all_moves(game) == shows_all
    assert board_rows([4, 0], None) == ["  O 1 2", "  3 X 5", "  6 7 8"]
    rows = board_rows([3, 3, 0], None, "connect_4x4")
    assert rows[2:] == ["  . . . O", "  X . . X", "  1 2 3 4"]


@pytest.mark.slow
def test_a_board_of_another_kind_is_drawn_with_its_moves_or_not_at_all():
    assert "not drawn" in board_rows([], None, "animal_shogi")[0]
    rows = board_rows([], None, "othello")
    assert [len(row.split()) for row in rows] == [8] * 8
    assert len(set(map(len, rows))) == 1, "also numbers of two digits"
    assert rows[3] == "   .  . 26  O  X  .  .  ."


def test_a_large_board_is_plain_and_its_last_stone_is_marked():
    """In connect_four the last move's column says not which stone it is."""
    rows = board_rows([3, 3, 3, 0], PLAIN, "connect_four")
    assert rows[2:] == [
        "  . . . . . . .",
        "  . . . X . . .",
        "  . . . O . . .",
        "  O . . X . . .",
        "  1 2 3 4 5 6 7",
    ]
    rows = board_rows([3, 3, 3, 0], COLOURED, "connect_four")
    assert rows[3].count(f"{MAGENTA}X{END}") == 1
    assert rows[5].startswith(f"  \x1b[1;34;4mO{END} ")
    rows = board_rows([3, 3, 3], COLOURED, "connect_four")
    assert [row.count("\x1b[1;35;4mX") for row in rows] == [0, 0, 0, 1, 0, 0, 0]


def test_a_small_board_has_lines_and_its_last_stone_is_marked():
    rule = " ---+---+---"
    rows = ["  O | 1 | 2", rule, "  3 | X | 5", rule, "  6 | 7 | 8"]
    assert board_rows([4, 0], PLAIN) == rows
    rows = board_rows([4, 0], COLOURED)
    assert rows[0].startswith(f"  \x1b[1;34;4mO{END} │ ")
    assert f"│ {MAGENTA}X{END} │" in rows[2]
    rows = board_rows([5], PLAIN, "mnk_4x4_4")
    assert rows[2] == "   4 |  X |  6 |  7"
    assert rows[6] == "  12 | 13 | 14 | 15"
    assert rows[5] == " ----+----+----+----"
