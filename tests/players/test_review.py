"""Reviews beside independent rules of the game."""

import numpy as np
import pytest
import rules

from jax_ttt.games.game import Game
from jax_ttt.players.analysis import review_moves

WORTH = {"X": 1, "O": -1}


def test_an_edge_reply_to_the_centre_loses():
    """Only a corner draws. X then has a forced win, which 7 gives away."""
    rows = review_moves(Game.start("tic_tac_toe", [4, 1, 0, 8, 7, 6]))
    assert rows is not None
    assert [row.is_mistake for row in rows[:5]] == [False, True, False, False, True]
    reply, slip = rows[1], rows[4]
    assert (reply.mover, reply.move) == ("second", 1)
    assert (reply.value_before, reply.value_after) == (0, -1)
    assert reply.best_moves == (0, 2, 6, 8)
    # 3 threatens 0-3-6 and 3-4-5 at once, 6 threatens 0-3-6 and 2-4-6.
    assert (slip.mover, slip.value_before, slip.value_after) == ("first", 1, 0)
    assert slip.best_moves == (3, 6)


@pytest.mark.parametrize("seed", range(3))
def test_a_review_agrees_with_independent_rules(seed):
    board, moves, rng = "-" * 9, [], np.random.default_rng(seed)
    while legal := rules.moves(board):
        moves.append(int(rng.choice(legal)))
        board = rules.after(board, moves[-1])
    rows = review_moves(Game.start("tic_tac_toe", moves))
    assert rows is not None
    assert [row.move for row in rows] == moves
    board = "-" * 9
    for row in rows:
        sign = WORTH[rules.mover(board)]
        assert row.mover == ("first" if sign == 1 else "second")
        assert row.value_before == sign * rules.value(board)
        assert list(row.best_moves) == rules.best_moves(board)
        assert row.is_mistake == (row.move not in row.best_moves)
        board = rules.after(board, row.move)
        assert row.value_after == sign * rules.value(board)


def test_a_game_without_moves_has_an_empty_review():
    assert review_moves(Game.start("tic_tac_toe")) == ()


def test_a_game_that_is_too_large_has_no_review():
    assert review_moves(Game.start("connect_four", [3, 3])) is None
