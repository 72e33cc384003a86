"""One game as Python values: legal moves, seats, results."""

import jax
import numpy as np
import pytest

from jax_ttt.config.errors import MoveError
from jax_ttt.games import one_game, pgx_games

ENV = pgx_games.make_env("tic_tac_toe")
X_WINS, O_WINS = (4, 0, 1, 2, 7), (4, 0, 1, 3, 8, 6)
DRAW = (4, 0, 2, 6, 3, 5, 1, 7, 8)


def line(moves, seed=0):
    """Return the states before and after each move."""
    states = [pgx_games.init(ENV, jax.random.key(seed), 1)]
    for move in moves:
        states.append(one_game.play_move("tic_tac_toe", states[-1], move))
    return states


def test_a_game_has_a_state_before_and_after_each_move():
    for made, played in zip(
        one_game.states("tic_tac_toe", DRAW), line(DRAW), strict=True
    ):
        np.testing.assert_array_equal(made.observation, played.observation)
    assert len(one_game.states("tic_tac_toe", [])) == 1
    with pytest.raises(MoveError, match="the game is over"):
        one_game.states("tic_tac_toe", [*X_WINS, 8])


def test_the_legal_moves_are_the_free_cells():
    for count, state in enumerate(line(DRAW)):
        free = set(range(9)) - set(DRAW[:count])
        assert one_game.legal_moves(state) == tuple(sorted(free))
    assert one_game.legal_moves(line(X_WINS)[-1]) == ()


@pytest.mark.parametrize("move", [-1, 9, 2**31, 0])
def test_an_illegal_move_is_refused(move):
    """PGX itself accepts such a move, and the mover loses."""
    state = line((4, 0))[-1]
    with pytest.raises(ValueError, match=f"{move} is not a legal move of tic_tac_toe"):
        one_game.play_move("tic_tac_toe", state, move)


@pytest.mark.parametrize("seed", range(2))
def test_the_seats_take_turns_with_any_player_ids(seed):
    states = line(DRAW, seed)
    seats = [one_game.seat_to_move(states[0], state) for state in states]
    assert seats == ["first", "second"] * 5


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("moves", "first", "second"),
    [(X_WINS, "won", "lost"), (O_WINS, "lost", "won"), (DRAW, "drawn", "drawn")],
)
def test_the_result_is_that_of_the_seat(moves, first, second, seed):
    *before, end = states = line(moves, seed)
    assert one_game.result(states[0], end, "first") == first
    assert one_game.result(states[0], end, "second") == second
    for state in before:
        assert one_game.result(states[0], state, "first") is None
