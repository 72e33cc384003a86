"""The board of a session as plain text."""

import jax

from jax_ttt.envs import one_game
from jax_ttt.players.session import Session
from jax_ttt.reports import session_text


def game_of(moves, opponent, env_id="tic_tac_toe"):
    states = one_game.states(env_id, moves)
    return Session(env_id, opponent, "first", jax.random.key(0), states, tuple(moves))


def test_moves_stand_on_free_cells(row_by_row):
    text = session_text.board(game_of([4, 0], row_by_row))
    assert text == "  O 1 2\n  3 X 5\n  6 7 8"


def test_a_finished_board_has_no_numbers(row_by_row):
    text = session_text.board(game_of([4, 0, 6, 1, 2], row_by_row))
    assert text == "  O O X\n  . X .\n  X . ."


def test_stones_fall_in_columns(row_by_row):
    text = session_text.board(game_of([3, 3], row_by_row, "connect_four"))
    assert text.splitlines() == [
        *["  . . . . . . ."] * 4,
        "  . . . O . . .",
        "  . . . X . . .",
        "  0 1 2 3 4 5 6",
    ]


def test_several_kinds_of_pieces_are_not_drawn(row_by_row):
    game = Session("gardner_chess", row_by_row, "first", jax.random.key(0), (), ())
    assert session_text.numbered_cells(game) is None
    assert session_text.board(game) == "(gardner_chess is not drawn in text)"
