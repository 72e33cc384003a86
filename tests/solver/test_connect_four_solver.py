"""The compiled solver of four in a row, against plain minimax and other solvers."""

import json
import random
import subprocess

import four_in_a_row
import numpy as np
import pytest

from jax_ttt.config.game_facts import GAMES
from jax_ttt.games import position_keys
from jax_ttt.games.position_keys import Stones
from jax_ttt.solver.connect_four_solver import Solver
from tools import ladder

LEAST_VALUE = {"not-lose": 0, "win": 1}
GOALS = tuple(LEAST_VALUE)


def random_game(rng, rows, num_columns, num_moves):
    """Return the moves of a game without a winner, and its board."""
    moves, board = [], ("",) * num_columns
    while len(moves) < num_moves:
        column = rng.choice(four_in_a_row.moves(board, rows))
        after = four_in_a_row.after_move(board, column)
        if four_in_a_row.has_won(after, rows, four_in_a_row.mover(board)):
            moves, board = [], ("",) * num_columns  # begin again
        else:
            moves, board = [*moves, column], after
    return moves, board


def keys_of(env_id, boards):
    """Return the keys of boards as numbers."""
    rows, _ = GAMES[env_id].shape
    # Row by row from the top, one letter for each cell.
    letters = np.array(
        [
            [column.ljust(rows)[row] for row in range(rows)[::-1] for column in board]
            for board in boards
        ]
    )
    stones = Stones(first=letters == "X", second=letters == "O")
    return position_keys.keys_to_numbers(np.asarray(position_keys.pack(env_id, stones)))


def answers(env_id, goal, boards, order):
    """Return the moves of a new solver with a small table."""
    solver = Solver(env_id, goal, table_bits=20)
    return solver.keeping_moves(keys_of(env_id, boards), np.array(order)).tolist()


def test_an_answer_does_not_depend_on_the_questions_before_it():
    rng = random.Random(1)
    boards = [random_game(rng, 6, 7, rng.randint(20, 30))[1] for _ in range(200)]
    order = [[3, 2, 4, 1, 5, 0, 6]] * 200
    mirrored = [board[::-1] for board in boards]
    moves = answers("connect_7x6", "win", boards, order)
    again = answers("connect_7x6", "win", boards[::-1] + mirrored, order * 2)
    assert again[199::-1] == moves
    assert [move == -1 for move in again[200:]] == [move == -1 for move in moves]


def test_an_open_three_wins():
    """X has two stones in the second row, and the four cells beside them are playable.

    . . X O . . .
    . . O O . . .
    . . X X . . O
    . . O O . . X
    . . X X . . O
    O X O X X O X
    """
    board = ("O", "X", "OXOXOX", "XXOXOO", "X", "O", "XOXO")
    assert not four_in_a_row.has_won(board, 6, "X")
    assert not four_in_a_row.has_won(board, 6, "O")
    for column in (1, 4):
        orders = [[2, 3, column, 0, 5, 6, 5 - column]]
        for goal in GOALS:
            assert answers("connect_7x6", goal, [board], orders) == [column]
            after = [four_in_a_row.after_move(board, column)]
            assert answers("connect_7x6", goal, after, orders) == [-1]


@pytest.mark.parametrize(
    ("env_id", "first_level"),
    [("connect_7x6", 12), ("connect_four", 12), ("connect_6x6", 6), ("connect_4x4", 0)],
)
def test_the_first_level_has_thirty_free_cells(env_id, first_level):
    assert Solver(env_id, "win", table_bits=10).first_level == first_level


@pytest.mark.parametrize("env_id", ["tic_tac_toe", "mnk_4x4_4"])
def test_games_without_falling_stones_have_no_solver(env_id):
    with pytest.raises(ValueError, match=f"{env_id} is not four in a row"):
        Solver(env_id, "win")


BITBULLY = """
import json, sys, bitbully
solver = bitbully.BitBully(opening_book=None)
values = []
for moves in json.load(sys.stdin):
    board = bitbully.Board()
    for move in moves:
        assert board.play(move)
    values.append(solver.score_all_moves(board))
print(json.dumps(values))
"""


@pytest.mark.slow
def test_bitbully_gives_the_same_answers_on_7x6():
    """The package is installed into the environment that the ladder has for it."""
    rng = random.Random(2)
    games = [random_game(rng, 6, 7, rng.randint(16, 30)) for _ in range(200)]
    system = next(x for x in ladder.SYSTEMS.examined if x.name == "bitbully")
    done = subprocess.run(
        [ladder.install(system), "-c", BITBULLY],
        input=json.dumps([moves for moves, _ in games]),
        capture_output=True,
        text=True,
        check=True,
    )
    orders = [rng.sample(range(7), 7) for _ in games]
    boards = [board for _, board in games]
    for goal, least in LEAST_VALUE.items():
        expected = [
            next((x for x in order if values.get(str(x), -1) >= least), -1)
            for order, values in zip(orders, json.loads(done.stdout), strict=True)
        ]
        assert answers("connect_7x6", goal, boards, orders) == expected
