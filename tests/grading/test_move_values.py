"""The values of moves and the review of a game, compared with independent rules."""

import numpy as np
import rules
import tiny

from jax_ttt.config.settings import Config
from jax_ttt.games.played_game import Game
from jax_ttt.grading.move_values import agent_values, best_play_values, review_moves

SIGN = {"X": 1, "O": -1}


def test_values_are_exact_and_the_agents_own_where_these_exist():
    """O must take the centre after a corner. Mirrored moves have the same q-value."""
    agent = tiny.untrained(Config.of(hidden_size=8))
    game = Game.start("tic_tac_toe", [0])
    exact = {move: 0.0 if move == 4 else -1.0 for move in range(1, 9)}
    assert best_play_values(game) == exact
    assert len({*agent_values(game, agent).values()}) == 5
    game = Game.start("connect_four", [3, 3])
    assert best_play_values(game) is None
    assert review_moves(game) is None
    over = Game.start("tic_tac_toe", [0, 3, 1, 4, 2])
    assert best_play_values(over) == agent_values(over, agent) == {}


def test_a_review_agrees_with_independent_rules():
    """In the first game an edge reply to the centre loses, and 7 gives the win away."""
    games = [[4, 1, 0, 8, 7, 6]]
    for seed in range(3):
        board, moves, rng = "-" * 9, [], np.random.default_rng(seed)
        while legal := rules.moves(board):
            moves.append(int(rng.choice(legal)))
            board = rules.after(board, moves[-1])
        games.append(moves)
    mistakes = []
    for moves in games:
        board = "-" * 9
        rows = review_moves(Game.start("tic_tac_toe", moves)) or ()
        assert [row.move for row in rows] == moves
        for row in rows:
            sign = SIGN[rules.mover(board)]
            assert row.mover == ("first" if sign == 1 else "second")
            assert row.value_before == sign * rules.value(board)
            assert list(row.best_moves) == rules.best_moves(board)
            assert row.is_mistake == (row.move not in row.best_moves)
            board = rules.after(board, row.move)
            assert row.value_after == sign * rules.value(board)
        mistakes.append([row.move for row in rows if row.is_mistake])
    assert mistakes[0] == [1, 7]
