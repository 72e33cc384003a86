"""Boards and values on boards."""

import numpy as np

from jax_ttt.games.game import Game
from jax_ttt.players.move_values import MoveValue
from jax_ttt.text import board_text, review_text, session_text, values_text
from jax_ttt.text.screen import LINES, Screen

PLAIN = Screen(input, print)
COLOURED = Screen(input, print, True, LINES)
MAGENTA, END = "\x1b[1;35m", "\x1b[0m"


def board_of(moves, env_id="tic_tac_toe"):
    """Return the cells of a game's board, and its legal moves."""
    game = Game.start(env_id, moves)
    cells = session_text.numbered_cells(game)
    assert cells is not None
    return cells, game.legal_moves


def rows_of(moves, screen, env_id="tic_tac_toe"):
    """Return the lines of the board after these moves."""
    cells, _ = board_of(moves, env_id)
    return board_text.drawn_board(env_id, cells, moves, screen).splitlines()


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


def test_values_are_drawn_side_by_side(snapshot):
    """X has 4 and 8, O 0 and 1: X must take 2, which wins by 2-5-8 and 2-4-6."""
    cells, legal = board_of([4, 0, 8, 1])
    exact = {move: 1.0 if move == 2 else -1.0 for move in legal}
    learned = {2: 0.5, 3: -0.25, 5: 0.125, 6: -1.0, 7: 0.0}
    text = board_text.value_boards("tic_tac_toe", cells, exact, learned, PLAIN)
    assert text == snapshot


def test_a_layer_that_is_not_known_is_left_out():
    cells = np.arange(4).astype(object).reshape(2, 2)
    learned = {move: move / 4 for move in range(4)}
    exact = {move: -1.0 + (move > 1) for move in range(4)}
    text = board_text.value_boards("tic_tac_toe", cells, {}, learned, COLOURED)
    assert "best play" not in text
    assert text.count("\x1b[1m") == text.count("\x1b[1m+0.750") == 1
    text = board_text.value_boards("tic_tac_toe", cells, exact, {}, COLOURED)
    assert "the agent" not in text
    assert text.count("\x1b[31mloses\x1b[0m") == text.count("draws") == 2


def test_moves_are_ordered_by_the_agents_values_if_there_are_any():
    """Of equal moves, the lowest comes first; at most twelve are listed."""

    def listed(worth):
        table = values_text.values_table("it", worth).splitlines()
        return [int(row.split()[0]) for row in table[1:]]

    worth = [MoveValue(0, 1.0, -0.5), MoveValue(4, -1.0, 0.25), MoveValue(8, 0.0, 0.25)]
    assert listed(worth) == [4, 8, 0]
    assert listed([row._replace(q_value=None) for row in worth]) == [0, 8, 4]
    many = [MoveValue(move, None, move / 100) for move in range(50)]
    assert listed(many) == list(range(49, 37, -1))
    assert values_text.values_table("it", []) == "it has no values to show"


def review_of(moves, screen):
    return review_text.review_text(
        Game.start("tic_tac_toe", moves), "first", "it", screen
    )


def test_only_mistakes_are_coloured():
    lines = review_of([4, 1, 0, 8, 7, 6], COLOURED).splitlines()
    painted = [line for line in lines if line.startswith("\x1b[31m")]
    assert [line for line in lines if "\x1b" in line] == painted
    assert all("a mistake" in line for line in painted)
    assert len(painted) == 2


def test_the_review_of_a_whole_game_fits_a_terminal():
    lines = review_of([4, 0, 1, 7, 6, 2, 5, 3, 8], PLAIN).splitlines()
    assert max(map(len, lines)) <= 80
    assert "it: 0 mistakes in 4 moves" in lines
    assert review_of([], PLAIN).startswith("nothing to review")
