"""A game being played: moves, seats, results, going back; and many games at once."""

import jax
import numpy as np
import pytest
import rules
from jax.tree_util import Partial

from jax_ttt.config.errors import MoveError
from jax_ttt.games import pgx_games
from jax_ttt.games.game import Game, own_game, replay

X_WINS, O_WINS = (4, 0, 1, 2, 7), (4, 0, 1, 3, 8, 6)
DRAW = (4, 0, 2, 6, 3, 5, 1, 7, 8)
COLUMNS = "connect_4x4"


def leftmost(key, env_state):
    """Return the first open column."""
    return env_state.legal_action_mask.argmax(axis=-1)


LEFT = Partial(leftmost)
ALONE = (0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3)
"""Columns of X and O by rows: no four of a player are in line until the end."""


@pytest.mark.parametrize("moves", [X_WINS, O_WINS, DRAW])
def test_states_moves_and_seats_are_those_of_independent_rules(moves):
    game, board = Game.start("tic_tac_toe", moves), "-" * 9
    assert (game.moves, len(game.states)) == (moves, len(moves) + 1)
    for count, move in enumerate(moves):
        before = game.back_to(count)
        assert before.moves == moves[:count]
        assert not before.is_over
        assert list(before.legal_moves) == rules.moves(board)
        mover = rules.mover(board)
        assert before.to_move == {"X": "first", "O": "second"}[mover]
        obs = np.asarray(before.state.observation[0]).reshape(9, 2)
        assert obs.tolist() == [
            [cell == mover, cell not in (mover, "-")] for cell in board
        ]
        board = rules.after(board, move)
    assert game.is_over
    assert game.legal_moves == ()


@pytest.mark.parametrize(
    ("moves", "first", "second"),
    [(X_WINS, "won", "lost"), (O_WINS, "lost", "won"), (DRAW, "drawn", "drawn")],
)
def test_the_result_is_that_of_the_seat(moves, first, second):
    game = Game.start("tic_tac_toe", moves)
    assert (game.result("first"), game.result("second")) == (first, second)
    for count in range(len(moves)):
        assert game.back_to(count).result("first") is None


@pytest.mark.parametrize("move", [-1, 9, 2**31, 2**40, 0])
def test_an_illegal_move_is_refused(move):
    """PGX itself accepts such a move, and the mover loses."""
    with pytest.raises(MoveError) as refused:
        Game.start("tic_tac_toe", (4, 0)).play(move)
    rule = "is not a legal move of tic_tac_toe; legal: 1 2 3 5 6 7 8"
    assert str(refused.value) == f"{move} {rule}"


def test_no_move_follows_the_last_one():
    with pytest.raises(MoveError, match=r"8 is not .* the game is over"):
        Game.start("tic_tac_toe", [*X_WINS, 8])


def test_games_of_the_same_moves_are_equal():
    game = Game.start("tic_tac_toe", (4, 0))
    assert game == Game.start("tic_tac_toe", (4,)).play(0)
    assert game != game.play(1)
    assert game != Game.start("connect_four", (4, 0))


def test_a_seat_goes_back_to_before_its_latest_move():
    game = Game.start("tic_tac_toe", X_WINS)
    assert game.before_move_of("first").moves == X_WINS[:4]
    assert game.before_move_of("second").moves == X_WINS[:3]
    assert game.moves == X_WINS
    opened = Game.start("tic_tac_toe", (4,))
    assert opened.before_move_of("second") == opened


def test_a_player_plays_against_itself():
    game = own_game(COLUMNS, LEFT)
    assert game.is_over
    assert game.moves == ALONE[: len(game.moves)]


def test_it_leaves_a_line_in_its_own_seat_only():
    """Its third move would be in column 0."""
    line = [0, 3, 0, 2, 1]
    assert own_game(COLUMNS, LEFT, line, "first").moves[:6] == (0, 3, 0, 2, 0, 0)
    assert own_game(COLUMNS, LEFT, line, "second").moves[:4] == (0, 0, 0, 0)


def test_a_line_that_it_plays_is_its_game():
    """The opponent wins in column 1, as the player never leaves column 0."""
    line = (1, 0, 1, 0, 1, 0, 1)
    assert own_game(COLUMNS, LEFT, line, "second").moves == line


def test_after_a_line_that_it_plays_it_goes_on_alone():
    assert own_game(COLUMNS, LEFT, [3, 0], "second").moves[:5] == (3, 0, 0, 0, 0)


def test_many_games_end_in_the_states_of_each():
    games = [X_WINS, DRAW, (), (4,)]
    states = replay("tic_tac_toe", games)
    for place, moves in enumerate(games):
        alone = Game.start("tic_tac_toe", moves).state
        np.testing.assert_array_equal(
            states.observation[place], alone.observation[0], err_msg=str(place)
        )
        assert bool(states.terminated[place]) == bool(alone.terminated[0])


def test_of_many_games_each_stops_before_a_move_that_is_not_legal():
    games = [(4, 4, 0), (4, 0, 9, 1), (*X_WINS, 8), (-1, 4), (4, 0)]
    states = replay("tic_tac_toe", games)
    assert pgx_games.num_moves(states).tolist() == [1, 2, 5, 0, 2]
    board = np.asarray(jax.tree.map(lambda x: x[0], states).observation)
    assert np.flatnonzero(board.any(axis=-1)).tolist() == [4]
