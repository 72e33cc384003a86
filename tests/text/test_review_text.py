"""The review of a game."""

from jax_ttt.games.game import Game
from jax_ttt.text import advice
from jax_ttt.text.screen import LINES, Screen

PLAIN = Screen(input, print)
COLOURED = Screen(input, print, True, LINES)


def review_of(moves, screen):
    game = Game.start("tic_tac_toe", moves)
    return advice.review_text(game, "first", "it", screen)


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
