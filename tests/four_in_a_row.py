"""Rules of four in a row in plain Python, and values by minimax.

A board of any size is a tuple of columns, each a string of its stones from the bottom.
X moves first.
"""

import functools


@functools.cache
def lines_of(num_columns, rows):
    """Return the cells, as column and row from the bottom, of each line of four."""
    lines = [
        [(x + n * dx, y + n * dy) for n in range(4)]
        for x in range(num_columns)
        for y in range(rows)
        for dx, dy in ((0, 1), (1, 0), (1, 1), (1, -1))
    ]
    return [
        line for line in lines if line[3][0] < num_columns and 0 <= line[3][1] < rows
    ]


def mover(board):
    """Return whose turn it is."""
    return "XO"[sum(map(len, board)) % 2]


def moves(board, rows):
    """Return the columns that are not full."""
    return [column for column in range(len(board)) if len(board[column]) < rows]


def with_stone(board, column, stone):
    """Return the board with one more stone."""
    return (*board[:column], board[column] + stone, *board[column + 1 :])


def after_move(board, column):
    """Return the board after a move."""
    return with_stone(board, column, mover(board))


def has_won(board, rows, stone):
    """Return whether a player has four in a row."""
    return any(
        all(board[x][y : y + 1] == stone for x, y in line)
        for line in lines_of(len(board), rows)
    )


@functools.cache
def value(board, rows):
    """Return the value to the mover of a board on which nobody has won."""
    return max((value_of_move(board, rows, x) for x in moves(board, rows)), default=0)


def value_of_move(board, rows, column):
    """Return the value of a move to its mover."""
    after = after_move(board, column)
    return 1 if has_won(after, rows, mover(board)) else -value(after, rows)
