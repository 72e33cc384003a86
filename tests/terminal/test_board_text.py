"""Boards and values on boards, word for word."""

import jax
import numpy as np
import pytest

from jax_ttt.envs import one_game
from jax_ttt.players import players, registry, session
from jax_ttt.players.session import Session
from jax_ttt.reports import session_text
from jax_ttt.terminal import board_text
from jax_ttt.terminal.screen import LINES, Screen

PLAIN = Screen(input, print)
COLOURED = Screen(input, print, True, LINES)
MAGENTA, DIM, END = "\x1b[1;35m", "\x1b[2m", "\x1b[0m"


def board_of(moves, env_id="tic_tac_toe"):
    """Return the cells of a game's board, and its legal moves."""
    states = one_game.states(env_id, moves)
    opponent = registry.Entrant("nobody", players.random_player, None)
    game = Session(env_id, opponent, "first", jax.random.key(0), states, tuple(moves))
    cells = session_text.numbered_cells(game)
    assert cells is not None
    return cells, session.legal_moves(game)


def rows_of(moves, screen, env_id="tic_tac_toe"):
    """Return the lines of the board after these moves."""
    cells, _ = board_of(moves, env_id)
    return board_text.drawn_board(env_id, cells, moves, screen).splitlines()


def test_a_small_board_has_lines_between_its_cells():
    assert rows_of([4, 0], PLAIN) == [
        "  O | 1 | 2",
        " ---+---+---",
        "  3 | X | 5",
        " ---+---+---",
        "  6 | 7 | 8",
    ]
    rows = rows_of([4, 0], COLOURED)
    assert rows[1] == " ───┼───┼───"
    last = f"\x1b[1;4;34mO{END}"
    assert rows[0] == f"  {last} │ {DIM}1{END} │ {DIM}2{END}"
    assert rows[2] == f"  {DIM}3{END} │ {MAGENTA}X{END} │ {DIM}5{END}"


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


def test_the_numbers_on_a_board_may_be_other_than_the_legal_moves():
    for moves, env_id, shown in (
        ([4, 0], "tic_tac_toe", True),
        ([3] * 5, "connect_four", True),
        ([3] * 6, "connect_four", False),
    ):
        cells, legal = board_of(moves, env_id)
        assert board_text.are_shown(legal, cells) == shown


@pytest.mark.slow
def test_a_pass_is_not_on_the_board():
    cells, legal = board_of([], "go_9x9")
    assert legal == tuple(range(82))
    assert not board_text.are_shown(legal, cells)


def test_values_are_drawn_side_by_side():
    """X has 4 and 8, O 0 and 1: X must take 2, which wins by 2-5-8 and 2-4-6."""
    cells, legal = board_of([4, 0, 8, 1])
    exact = {move: 1.0 if move == 2 else -1.0 for move in legal}
    learned = {2: 0.5, 3: -0.25, 5: 0.125, 6: -1.0, 7: 0.0}
    text = board_text.value_boards("tic_tac_toe", cells, exact, learned, PLAIN)
    assert text.splitlines() == [
        "  best play                   the agent",
        "    O   |   O   |  wins          O   |    O   | +0.500",
        " -------+-------+-------     --------+--------+--------",
        "  loses |   X   | loses       -0.250 |    X   | +0.125",
        " -------+-------+-------     --------+--------+--------",
        "  loses | loses |   X         -1.000 | +0.000 |    X",
    ]


def test_a_layer_that_is_not_known_is_left_out():
    cells = np.arange(4).astype(object).reshape(2, 2)
    learned = {move: move / 4 for move in range(4)}
    exact = {move: -1.0 + (move > 1) for move in range(4)}
    text = board_text.value_boards("tic_tac_toe", cells, {}, learned, COLOURED)
    assert "the agent" in text
    assert "best play" not in text
    assert text.count("\x1b[1m") == text.count("\x1b[1m+0.750") == 1
    text = board_text.value_boards("tic_tac_toe", cells, exact, {}, COLOURED)
    assert "the agent" not in text
    assert text.count("\x1b[31mloses\x1b[0m") == text.count("draws") == 2
