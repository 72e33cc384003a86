"""The review of a game, word for word."""

from jax_ttt.terminal import review_text
from jax_ttt.terminal.screen import Screen

PLAIN, COLOURED = Screen(input, print), Screen(input, print, coloured=True)


def lines_of(moves, screen, env_id="tic_tac_toe"):
    text = review_text.review_text(env_id, moves, "first", "it", screen)
    return text.splitlines()


def test_mistakes_of_both_players_are_named():
    assert lines_of([4, 1, 0, 8, 7, 6], PLAIN) == [
        "  1. X4   2. O1   3. X0   4. O8   5. X7   6. O6",
        "  - - -   - O -   X O -   X O -   X O -   X O -",
        "  - X -   - X -   - X -   - X -   - X -   - X -",
        "  - - -   - - -   - - -   - - O   - X O   O X O",
        "",
        "with best play after each move, its player",
        "  1. X4  you  draws",
        "  2. O1       loses: a mistake; 0, 2, 6 or 8 draws",
        "  3. X0  you  wins",
        "  4. O8       loses",
        "  5. X7  you  draws: a mistake; 3 or 6 wins",
        "  6. O6       draws",
        "",
        "you: 1 mistake in 3 moves",
        "it: 1 mistake in 3 moves",
    ]


def test_only_mistakes_are_coloured():
    lines = lines_of([4, 1, 0, 8, 7, 6], COLOURED)
    painted = [line for line in lines if line.startswith("\x1b[31m")]
    assert [line for line in lines if "\x1b" in line] == painted
    assert all("a mistake" in line for line in painted)
    assert len(painted) == 2


def test_a_whole_game_fits_a_terminal():
    lines = lines_of([4, 0, 1, 7, 6, 2, 5, 3, 8], PLAIN)
    assert max(map(len, lines)) <= 80
    assert "it: 0 mistakes in 4 moves" in lines


def test_there_is_nothing_to_review_or_no_exact_value():
    assert lines_of([], PLAIN) == ["nothing to review: no move is made"]
    too_large = ["no review: connect_four is too large for exact values"]
    assert lines_of([3], PLAIN, "connect_four") == too_large
