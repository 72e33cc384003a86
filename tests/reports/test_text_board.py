"""Boards as text, word for word."""

import jax
import numpy as np
import pytest

from jax_ttt.config.catalogue import GAMES, SEATS
from jax_ttt.envs import pgx_games
from jax_ttt.reports import text_board


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


def test_a_position_in_one_string(host_tree):
    position = 0
    assert text_board.cells_as_text(host_tree, position) == "-" * 9
    for action in (7, 3, 8, 5, 6):
        position = int(host_tree.successor[position, action])
    assert text_board.cells_as_text(host_tree, position) == "---O-OXXX"
    assert text_board.cells_as_text(host_tree, position, ("#", "0")) == "---0-0###"


def test_every_position_has_its_own_string(host_tree):
    found = {
        text_board.cells_as_text(host_tree, p) for p in range(host_tree.num_positions)
    }
    assert len(found) == host_tree.num_positions
    for cells in found:
        assert cells.count("X") - cells.count("O") in (0, 1)


def test_boards_word_for_word(host_tree):
    line = []
    position = 0
    for action in (7, 3, 8, 5, 6):
        line.append((position, action))
        position = int(host_tree.successor[position, action])
    assert text_board.side_by_side(host_tree, line).splitlines() == [
        "  1. X7   2. O3   3. X8   4. O5   5. X6",
        "  - - -   - - -   - - -   - - -   - - -",
        "  - - -   O - -   O - -   O - O   O - O",
        "  - X -   - X -   - X X   - X X   X X X",
    ]
    assert text_board.side_by_side(host_tree, []) == ""


def with_moves(cells, moves_on, moves):
    return text_board.as_lines(text_board.numbered(cells, moves_on, moves))


def test_moves_are_on_cells_or_below_columns():
    cells = text_board.grid(WIDE, "first", free=".")
    assert with_moves(cells, "cells", [1, 6, 8]) == "  X 1 O .\n  . . 6 O"
    assert with_moves(cells, "columns", [0]).splitlines() == [
        "  X . O .",
        "  . . . O",
        "  0 1 2 3",
    ]
    assert cells.tolist() == text_board.grid(WIDE, "first", free=".").tolist()


def test_numbers_of_two_digits_stay_in_their_columns():
    cells = text_board.grid(np.zeros((4, 4, 2)), "first", free=".")
    rows = with_moves(cells, "cells", range(9, 16)).splitlines()
    assert rows == [
        "   .  .  .  .",
        "   .  .  .  .",
        "   .  9 10 11",
        "  12 13 14 15",
    ]


@pytest.mark.parametrize(
    ("env_id", "size"),
    [
        ("othello", 8),
        pytest.param("hex", 11, marks=pytest.mark.slow),
        pytest.param("go_9x9", 9, marks=pytest.mark.slow),
    ],
)
def test_every_board_of_stones_is_drawn(env_id, size):
    state = pgx_games.init(pgx_games.make_env(env_id), jax.random.key(0), 1)
    obs = np.asarray(state.observation[0])
    moves = np.flatnonzero(state.legal_action_mask[0]).tolist()
    assert GAMES[env_id].moves_on == "cells"
    rows, swapped = (
        with_moves(text_board.grid(obs, first, free="."), "cells", moves)
        for first in SEATS
    )
    assert [len(row.split()) for row in rows.splitlines()] == [size] * size
    assert swapped == rows.translate(str.maketrans("XO", "OX"))


def test_lines_stand_between_cells_of_one_width():
    cells = np.array([["X", 1], [20, "O"]], object)
    assert text_board.boxed(cells, 3, lines="|-+") == [
        "   X  |  1  ",
        " -----+-----",
        "   20 |  O  ",
    ]
    assert text_board.boxed(cells, 2)[1] == " ────┼────"


def test_colours_don_t_move_the_cells():
    """`paint` gets each cell with its place, row by row, and no spaces."""
    cells, seen = np.array([["X", 1], [20, "O"]], object), []

    def paint(place, cell):
        seen.append((place, cell))
        return f"<{cell}>"

    assert text_board.as_lines(cells, paint) == "   <X>  <1>\n  <20>  <O>"
    assert text_board.boxed(cells, 2, paint, "|-+")[0] == "   <X> |  <1> "
    assert seen == [*enumerate(["X", "1", "20", "O"])] * 2
