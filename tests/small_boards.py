"""A perfect player of `connect_4x4`, and rules of the game in plain Python."""

import functools
import runpy
from pathlib import Path

import jax
import numpy as np
from jax.tree_util import Partial

from jax_ttt.games import position_keys

ENV_ID = "connect_4x4"
START = "-" * 16
SIZE = 4
SCRIPT = Path(__file__).parents[1] / "docs" / "game_values.py"


@functools.cache
def search():
    """Return a search for the values of positions: that of `docs/game_values.py`."""
    return runpy.run_path(str(SCRIPT))["Search"](SIZE, SIZE)


def mover(board):
    """Return whose turn it is."""
    return "X" if board.count("X") == board.count("O") else "O"


def winner(board):
    """Return whose stones are in a row; None for nobody's."""
    lines = [board[4 * n : 4 * n + 4] for n in range(4)]
    lines += [board[n::4] for n in range(4)] + [board[::5], board[3:13:3]]
    return next((stone for stone in "XO" if stone * 4 in lines), None)


def moves(board):
    """Return the legal moves; none if the game is over."""
    columns = range(SIZE) if not winner(board) else ()
    return [column for column in columns if board[column] == "-"]


def after(board, column):
    """Return a board, its cells row by row from the top, after a move."""
    places = [cell for cell in range(column, 16, 4) if board[cell] == "-"]
    return board[: places[-1]] + mover(board) + board[places[-1] + 1 :]


@functools.cache
def worth(board, column):
    """Return the value of a move to its mover: -1, 0 or 1."""
    new = after(board, column)
    if winner(new):
        return 1
    cells = [3 - cell // 4 + cell % 4 * 5 for cell in range(16)]  # as bits
    stones = {
        stone: sum(1 << bit for bit, x in zip(cells, new, strict=True) if x == stone)
        for stone in "XO"
    }
    return -search()._value(stones[mover(new)], sum(stones.values()), -1, 1)


@functools.cache
def best(board):
    """Return the first best move."""
    return max(moves(board), key=lambda column: (worth(board, column), -column))


def boards_of_games(choose, own):
    """Return all boards of games against the player of these stones, but no last one.

    The player makes the move `choose(board)`, its opponent any move.
    """
    seen, boards = {}, [START]
    for board in boards:
        if board in seen or not moves(board):
            continue
        seen[board] = None
        chosen = [choose(board)] if mover(board) == own else moves(board)
        boards += [after(board, column) for column in chosen]
    return [*seen]


def reached(choose, own):
    """Return all boards on which the player of these stones has to move."""
    return [board for board in boards_of_games(choose, own) if mover(board) == own]


def loses(choose, own):
    """Return whether a line of play beats the player of these stones."""
    return any(
        winner(after(board, column)) not in (own, None)
        for board in boards_of_games(choose, own)
        for column in ([choose(board)] if mover(board) == own else moves(board))
    )


def key(board):
    """Return the key of a board: a number below 2**20."""
    number = 0
    for column in range(SIZE):
        stones = board[column::4][::-1].rstrip("-")
        digit = sum(1 << n for n, stone in enumerate(stones) if stone == "X")
        number |= (digit | 1 << len(stones)) << 5 * column
    return number


@functools.cache
def perfect():
    """Return the player that plays the first best move in every position it reaches."""
    chosen = np.zeros(2**20, np.int32)
    for own in "XO":
        for board in reached(best, own):
            chosen[key(board)] = best(board)
    return Partial(_looked_up, jax.device_put(chosen))


def _looked_up(chosen, key, env_state):
    del key
    return chosen[position_keys.pack(ENV_ID, position_keys.stones_of(env_state))[:, 0]]
