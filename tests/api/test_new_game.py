"""A game against a player: moves, replies, refusals and pictures."""

import numpy as np
import pytest

import jax_ttt
from jax_ttt.api import new_game as games


@pytest.fixture
def game():
    return jax_ttt.new_game("minimax-first")


def test_a_move_is_answered(game):
    after = game.play(4)
    assert (game.moves, after.moves) == ((), (4, 0))
    assert after.legal_moves == (1, 2, 3, 5, 6, 7, 8)
    assert (after.result, after.is_over) == (None, False)


def test_the_opponent_moves_first_if_you_are_second():
    game = jax_ttt.new_game("minimax-first", seat="second")
    assert len(game.moves) == 1


def test_a_lost_game(game):
    over = game
    while not over.is_over:
        over = over.play(over.legal_moves[-1])
    assert over.moves == (8, 4, 7, 6, 5, 2)
    assert over.result == "lost"
    assert over.legal_moves == ()


def test_a_move_of_numpy_is_kept_as_an_int(game):
    moves = game.play(np.int64(4)).moves
    assert moves == (4, 0)
    assert [type(move) for move in moves] == [int, int]


@pytest.mark.usefixtures("any_types")
def test_a_move_is_a_whole_number(game):
    for wrong in (4.0, None):
        with pytest.raises(jax_ttt.Refused, match=f"whole number, not {wrong}"):
            game.play(wrong)


def test_undo_goes_back_to_your_move(game):
    assert game.play(4).undo().moves == ()
    assert game.undo().moves == ()
    second = jax_ttt.new_game("minimax-first", seat="second")
    assert second.moves == second.undo().moves == (0,), "not your move"
    assert second.play(8).undo().moves == (0,)


def test_what_is_not_possible_is_refused(game):
    with pytest.raises(jax_ttt.Refused, match="0 is not a legal move"):
        game.play(4).play(0)
    with pytest.raises(jax_ttt.Refused, match="9 is not a legal move"):
        game.play(9)


def test_a_notebook_shows_the_board(game):
    shown = game.play(4)._repr_html_()
    assert "your move" in shown
    assert shown.count("<svg") == 1
    assert "@keyframes" not in shown


def test_a_game_is_drawn_move_by_move(game):
    assert "@keyframes" not in game.picture().svg, "nothing moves yet"
    assert "@keyframes" in game.play(4).picture().svg


def test_a_board_is_a_game_or_its_moves(game):
    by_game = games.game_of_board(game.play(4), "tic_tac_toe")
    assert by_game == games.game_of_board([4, 0], "tic_tac_toe")
    with pytest.raises(jax_ttt.Refused, match=r"tic_tac_toe, but .* connect_four"):
        games.game_of_board(game, "connect_four")
    with pytest.raises(jax_ttt.Refused, match="4 is not a legal move"):
        games.game_of_board([4, 4], "tic_tac_toe")
