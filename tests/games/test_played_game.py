"""A game being played: moves, seats, results, going back; and many games at once."""

import jax
import numpy as np
import pytest
import rules
from jax.tree_util import Partial

from jax_ttt.config.errors import Refused
from jax_ttt.games.played_game import Game, game_against_itself, replay

X_WINS, O_WINS = (4, 0, 1, 2, 7), (4, 0, 1, 3, 8, 6)
DRAW = (4, 0, 2, 6, 3, 5, 1, 7, 8)


def choose_leftmost(key, env_state):
    """Return the first open column."""
    return env_state.legal_action_mask.argmax(axis=-1)


LEFTMOST = Partial(choose_leftmost)


@pytest.mark.parametrize(
    ("moves", "first", "second"),
    [(X_WINS, "won", "lost"), (O_WINS, "lost", "won"), (DRAW, "drawn", "drawn")],
)
def test_states_seats_and_results_are_those_of_independent_rules(moves, first, second):
    game, board = Game.start("tic_tac_toe", moves), "-" * 9
    assert (game.moves, len(game.states)) == (moves, len(moves) + 1)
    for count, move in enumerate(moves):
        before = game.back_to(count)
        assert before.moves == moves[:count]
        assert not before.is_over
        assert before.result("first") is None
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
    assert (game.result("first"), game.result("second")) == (first, second)


@pytest.mark.parametrize("move", [-1, 9, 2**40, 0])
def test_an_illegal_move_is_an_error(move):
    """PGX itself accepts such a move, and the mover loses."""
    with pytest.raises(Refused) as error:
        Game.start("tic_tac_toe", (4, 0)).play(move)
    rule = "is not a legal move of tic_tac_toe; legal: 1 2 3 5 6 7 8"
    assert str(error.value) == f"{move} {rule}"


def test_no_move_follows_the_last_one():
    with pytest.raises(Refused, match=r"8 is not .* the game is over"):
        Game.start("tic_tac_toe", [*X_WINS, 8])


def test_games_of_the_same_moves_are_equal():
    game = Game.start("tic_tac_toe", (4, 0))
    assert game == Game.start("tic_tac_toe", (4,)).play(0)
    assert game != game.play(1)
    assert game != Game.start("connect_4x4", (4 - 1, 0))


def test_a_seat_goes_back_to_before_its_latest_move():
    game = Game.start("tic_tac_toe", X_WINS)
    assert game.before_move_of("first").moves == X_WINS[:4]
    assert game.before_move_of("second").moves == X_WINS[:3]
    opened = Game.start("tic_tac_toe", (4,))
    assert opened.before_move_of("second") == opened


@pytest.mark.parametrize(
    ("line", "seat", "moves"),
    [
        # By rows: no four of a player are in line until the end.
        ((), "first", (0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2)),
        # Its third move would be in column 0.
        ((0, 3, 0, 2, 1), "first", (0, 3, 0, 2, 0, 0)),
        ((0, 3, 0, 2, 1), "second", (0, 0, 0, 0)),
        # The opponent wins in column 1, as the player never leaves column 0.
        ((1, 0, 1, 0, 1, 0, 1), "second", (1, 0, 1, 0, 1, 0, 1)),
        # After the line, it plays both sides.
        ((3, 0), "second", (3, 0, 0, 0, 0)),
    ],
)
def test_a_game_against_itself_follows_a_line_as_far_as_the_player_does(
    line, seat, moves
):
    game = game_against_itself("connect_4x4", LEFTMOST, line, seat)
    assert game.is_over
    assert game.moves[: len(moves)] == moves


def test_each_of_many_games_stops_before_its_first_illegal_move():
    games = [X_WINS, DRAW, (), (4,), (4, 4, 0), (4, 0, 9, 1), (*X_WINS, 8), (-1, 4)]
    states = jax.device_get(replay("tic_tac_toe", games))
    assert states._step_count.tolist() == [5, 9, 0, 1, 1, 2, 5, 0]
    for row, moves in enumerate(games[:4]):
        expected = Game.start("tic_tac_toe", moves).state
        state = jax.tree.map(lambda x, row=row: x[row], states)
        np.testing.assert_array_equal(state.observation, expected.observation[0])
        assert state.terminated == expected.terminated[0]
