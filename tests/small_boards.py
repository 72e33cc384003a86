"""A perfect player of `connect_4x4`, and rules of the game in plain Python."""

import functools
import runpy
from pathlib import Path

import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial

from jax_ttt.games import packing

ENV_ID = "connect_4x4"
SIZE = 4
SCRIPT = Path(__file__).parents[1] / "docs" / "game_values.py"


@functools.cache
def search():
    """Return the values of all positions, by `docs/game_values.py`."""
    return runpy.run_path(str(SCRIPT))["Search"](SIZE, SIZE)


def dropped(board, column, stone):
    """Return a board, its cells row by row from the top, after a move."""
    places = [cell for cell in range(column, 16, 4) if board[cell] == "-"]
    return board[: places[-1]] + stone + board[places[-1] + 1 :]


def columns_of(board):
    """Return the legal moves."""
    return [column for column in range(SIZE) if board[column] == "-"]


def mover(board):
    """Return whose turn it is."""
    return "X" if board.count("X") == board.count("O") else "O"


def winner(board):
    """Return whose stones are in a row; None for nobody's."""
    lines = [board[4 * n : 4 * n + 4] for n in range(4)]
    lines += [board[n::4] for n in range(4)] + [board[::5], board[3:13:3]]
    return next((stone for stone in "XO" if stone * 4 in lines), None)


def worth(board, column):
    """Return the value of a move to its mover: -1, 0 or 1."""
    after = dropped(board, column, mover(board))
    if winner(after):
        return 1
    cells = [3 - cell // 4 + cell % 4 * 5 for cell in range(16)]  # as bits
    stones = {
        stone: sum(1 << bit for bit, x in zip(cells, after, strict=True) if x == stone)
        for stone in "XO"
    }
    own = stones[mover(after)]
    return -search()._value(own, sum(stones.values()), -1, 1)


@functools.cache
def best(board):
    """Return the first best move."""
    return max(columns_of(board), key=lambda column: (worth(board, column), -column))


def reached(choose, own):
    """Return all boards on which the player of these stones has to move."""
    seen, found, boards = set(), [], ["-" * 16]
    for board in boards:
        if board in seen or winner(board) or not columns_of(board):
            continue
        seen.add(board)
        moves = columns_of(board)
        if mover(board) == own:
            found.append(board)
            moves = [choose(board)]
        boards += [dropped(board, column, mover(board)) for column in moves]
    return found


def loses(choose, own, board="-" * 16):
    """Return whether a line of play beats the player of these stones."""
    return any(
        winner(dropped(on, column, mover(on))) not in (own, None)
        for on in lines_of(choose, own, board)
        for column in ([choose(on)] if mover(on) == own else columns_of(on))
    )


def lines_of(choose, own, board):
    """Return all boards of games against the player that are not over."""
    seen, boards = set(), [board]
    for on in boards:
        if on in seen or winner(on) or not columns_of(on):
            continue
        seen.add(on)
        moves = [choose(on)] if mover(on) == own else columns_of(on)
        boards += [dropped(on, column, mover(on)) for column in moves]
    return seen


def key_of(board):
    """Return the key of a board: a number below 2**20."""
    key = 0
    for column in range(SIZE):
        stones = board[column::4][::-1].rstrip("-")
        digit = sum(1 << n for n, stone in enumerate(stones) if stone == "X")
        key |= (digit | 1 << len(stones)) << 5 * column
    return key


@functools.cache
def perfect():
    """Return the player that plays the first best move in every position it reaches."""
    moves = np.zeros(2**20, np.int32)
    for own in "XO":
        for board in reached(best, own):
            moves[key_of(board)] = best(board)
    return Partial(_looked_up, jnp.asarray(moves))


def _looked_up(moves, key, env_state):
    del key
    return moves[packing.pack(ENV_ID, packing.stones_of(env_state))[:, 0]]
