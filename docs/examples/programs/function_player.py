"""Play the moves of a Python function of the board and the legal moves.

    python function_player.py MODULE:FUNCTION

for instance `centre_first:choose`. The module is in the current folder, beside this
file or installed. The function is called with two NumPy arrays, which have the form of
the observations in PettingZoo's tictactoe and connect_four, and it returns a move:

- `board`, int8 (rows, columns, 2), from the top row: 1 where the player to move has a
  stone (first plane) and where the opponent has one (second plane);
- `mask`, int8 (moves,): 1 for each legal move.

A move is a cell of `board`, row by row, or a column. PettingZoo's documents draw the
cells of tictactoe column by column, but its arrays are the same as these: move `a` is
the cell `board[a // 3, a % 3]`. So a function made for PettingZoo needs no change.
"""

import importlib
import sys

import numpy as np

ROWS_AND_COLUMNS = {"tic_tac_toe": (3, 3), "mnk_4x4_4": (4, 4), "connect_four": (6, 7)}


def read_position(game, moves):
    """Return the board and the mask of legal moves after these moves."""
    size = game.removeprefix("connect_").split("x")  # columns and rows
    rows, columns = ROWS_AND_COLUMNS.get(game) or (int(size[1]), int(size[0]))
    falls = game.startswith("connect_")
    board = np.zeros((rows, columns, 2), np.int8)
    for number, move in enumerate(moves):
        row, column = divmod(move, columns)
        if falls:
            row = np.flatnonzero(~board[:, column].any(axis=-1))[-1]
        board[row, column, (len(moves) - number) % 2] = 1
    empty = ~board.any(axis=-1)
    return board, (empty[0] if falls else empty.ravel()).astype(np.int8)


def serve(choose):
    """Answer each line of the input with the move of `choose(board, mask)`."""
    answers, sys.stdout = sys.stdout, sys.stderr  # `choose` may print
    game = sys.stdin.readline().partition(" ")[0]
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        board, mask = read_position(game, [int(move) for move in line.split()])
        print(int(choose(board, mask)), file=answers, flush=True)


if __name__ == "__main__":
    sys.path.insert(0, "")  # the current folder
    module, _, function = sys.argv[1].partition(":")
    serve(getattr(importlib.import_module(module), function))
