"""A game against a player: moves, replies, refusals and pictures."""

import numpy as np
import pytest

import jax_ttt
from jax_ttt.api.new_game import game_of_board


@pytest.fixture
def game():
    return jax_ttt.new_game("minimax-first")


def test_a_move_gets_a_reply_and_the_end_is_your_result(game):
    after = game.play(np.int64(4))
    assert (game.moves, after.moves) == ((), (4, 0))
    assert [type(move) for move in after.moves] == [int, int]
    assert after.legal_moves == (1, 2, 3, 5, 6, 7, 8)
    assert (after.result, after.is_over) == (None, False)
    while not game.is_over:
        game = game.play(game.legal_moves[-1])
    assert game.moves == (8, 4, 7, 6, 5, 2)
    assert (game.result, game.legal_moves) == ("lost", ())


def test_undo_goes_back_to_your_move(game):
    assert game.play(4).undo().moves == ()
    assert game.undo().moves == ()
    second = jax_ttt.new_game("minimax-first", seat="second")
    assert second.moves == second.undo().moves == (0,), "the opponent moved first"
    assert second.play(8).undo().moves == (0,)


def test_each_reply_of_a_random_player_is_another_draw():
    game = jax_ttt.new_game("random")
    replies = set()
    for _ in range(10):
        game = game.undo().play(4)
        replies.add(game.moves[1])
    assert len(replies) > 1


@pytest.mark.usefixtures("any_types")
def test_a_move_is_a_legal_whole_number(game):
    for wrong in (4.0, None):
        with pytest.raises(jax_ttt.Refused, match=f"whole number, not {wrong}"):
            game.play(wrong)
    for wrong in (0, 9):
        with pytest.raises(jax_ttt.Refused, match=f"{wrong} is not a legal move"):
            game.play(4).play(wrong)


def test_a_game_says_who_has_which_stones_and_shows_its_board_or_its_moves(game):
    line = "you are X, minimax-first is O: your move"
    assert repr(game).splitlines()[0] == line
    text = game.play(4)._repr_html_()
    assert line in text
    assert text.count("<svg") == 1
    assert "@keyframes" not in text
    assert "@keyframes" not in game.picture().svg
    assert "@keyframes" in game.play(4).picture().svg
    second = jax_ttt.new_game("minimax-first", seat="second")
    assert repr(second).startswith("you are O, minimax-first is X: your move\n")


def test_a_board_is_a_game_or_its_moves(game):
    played = game_of_board(game.play(4), "tic_tac_toe")
    assert played == game_of_board([4, 0], "tic_tac_toe")
    with pytest.raises(jax_ttt.Refused, match=r"tic_tac_toe, but .* connect_four"):
        game_of_board(game, "connect_four")
    with pytest.raises(jax_ttt.Refused, match="4 is not a legal move"):
        game_of_board([4, 4], "tic_tac_toe")
