"""A line is followed until the player has another move; then it plays both sides."""

from jax.tree_util import Partial

from jax_ttt.games import one_game
from jax_ttt.games.own_game import own_game

ENV = "connect_4x4"


def leftmost(key, env_state):
    """Return the first open column."""
    return env_state.legal_action_mask.argmax(axis=-1)


LEFT = Partial(leftmost)
ALONE = (0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3)
"""Columns of X and O by rows: no four of a player are in line until the end."""


def test_the_players_own_game_fills_column_by_column():
    moves, followed = own_game(ENV, LEFT)
    states = one_game.states(ENV, moves)
    assert followed == 0
    assert moves == ALONE[: len(moves)]
    assert not one_game.legal_moves(states[-1])
    assert all(one_game.legal_moves(state) for state in states[:-1])


def test_it_leaves_a_line_in_its_own_seat_only():
    moves, followed = own_game(ENV, LEFT, [0, 3, 0, 2, 1], "first")
    assert followed == 4, "its third move would be in column 0"
    assert moves[:6] == (0, 3, 0, 2, 0, 0)
    moves, followed = own_game(ENV, LEFT, [0, 3, 0, 2, 1], "second")
    assert followed == 1
    assert moves[:4] == (0, 0, 0, 0)


def test_a_line_that_it_plays_is_its_game():
    """The opponent wins in column 1, as the player never leaves column 0."""
    line = (1, 0, 1, 0, 1, 0, 1)
    assert own_game(ENV, LEFT, line, "second") == (line, 7)


def test_after_a_line_that_it_plays_it_goes_on_alone():
    moves, followed = own_game(ENV, LEFT, [3, 0], "second")
    assert followed == 2
    assert moves[:5] == (3, 0, 0, 0, 0)
