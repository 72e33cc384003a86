"""Boards as text."""

import jax
import numpy as np

from jax_ttt.config.catalogue import SEATS
from jax_ttt.games import pgx_games
from jax_ttt.text import text_board


def planes(first, second):
    """Return an observation with the first player to move, of rows such as `10.`."""
    return np.stack(
        [np.array([list(row) for row in rows]) == "1" for rows in (first, second)],
        axis=-1,
    )


WIDE = planes(["1000", "0000"], ["0010", "0001"])


def test_a_grid_has_the_shape_of_the_board():
    """The first plane of an observation holds the stones of the player to move."""
    assert text_board.grid(WIDE, to_move="first").tolist() == [
        ["X", "-", "O", "-"],
        ["-", "-", "-", "O"],
    ]
    assert text_board.grid(WIDE, to_move="second").tolist() == [
        ["O", "-", "X", "-"],
        ["-", "-", "-", "X"],
    ]
    named = text_board.grid(WIDE, "first", ("black", "white"), free="")
    assert named[0].tolist() == ["black", "", "white", ""]


def test_more_planes_than_two_are_not_stones():
    history = np.concatenate([WIDE, np.ones_like(WIDE)], axis=-1)
    drawn = text_board.grid(history, to_move="first")
    assert drawn.tolist() == text_board.grid(WIDE, to_move="first").tolist()


def test_a_game_board_by_board(host_tree, snapshot):
    line = []
    position = 0
    for action in (7, 3, 8, 5, 6):
        line.append((position, action))
        position = int(host_tree.successor[position, action])
    assert text_board.cells_as_text(host_tree, position) == "---O-OXXX"
    assert text_board.side_by_side(host_tree, line) == snapshot


def test_every_position_has_its_own_string(host_tree):
    found = {
        text_board.cells_as_text(host_tree, p) for p in range(host_tree.num_positions)
    }
    assert len(found) == host_tree.num_positions
    for cells in found:
        assert cells.count("X") - cells.count("O") in (0, 1)


def with_moves(cells, moves_on, moves):
    return text_board.as_lines(text_board.numbered(cells, moves_on, moves))


def test_moves_are_on_cells_or_below_columns():
    cells = text_board.grid(WIDE, "first", free=".")
    assert with_moves(cells, "cells", [1, 6, 8]) == "  X 1 O .\n  . . 6 O"
    below = with_moves(cells, "columns", [0]).splitlines()
    assert below == ["  X . O .", "  . . . O", "  0 1 2 3"]
    assert cells.tolist() == text_board.grid(WIDE, "first", free=".").tolist()


def test_a_large_board_of_stones_is_drawn():
    state = pgx_games.init(pgx_games.make_env("othello"), jax.random.key(0), 1)
    obs = np.asarray(state.observation[0])
    moves = np.flatnonzero(state.legal_action_mask[0]).tolist()
    rows, swapped = (
        with_moves(text_board.grid(obs, first, free="."), "cells", moves)
        for first in SEATS
    )
    assert [len(row.split()) for row in rows.splitlines()] == [8] * 8
    assert len(set(map(len, rows.splitlines()))) == 1, "also numbers of two digits"
    assert swapped == rows.translate(str.maketrans("XO", "OX"))
