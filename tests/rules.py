"""An independent implementation of tic-tac-toe and exact play, in fractions.

It uses nothing of the package, so tests compare the package with it. Boards are strings
of nine `X`, `O` and `-`, row by row. `small_boards` has the same functions.
"""

import functools
from fractions import Fraction

ENV_ID = "tic_tac_toe"
START = "-" * 9
LINES = ("012", "345", "678", "036", "147", "258", "048", "246")


@functools.cache
def winner(board):
    """Return the player with three in a line, or None."""
    for line in LINES:
        cells = {board[int(cell)] for cell in line}
        if len(cells) == 1 and cells != {"-"}:
            return cells.pop()
    return None


def mover(board):
    """Return the player to move."""
    return "X" if board.count("X") == board.count("O") else "O"


def moves(board):
    """Return the legal moves; none if the game is over."""
    return [] if winner(board) else [i for i in range(9) if board[i] == "-"]


def after(board, cell):
    """Return the board after a move of the player to move."""
    return board[:cell] + mover(board) + board[cell + 1 :]


@functools.cache
def value(board):
    """Return the value of the board to X under best play: -1, 0 or 1."""
    if won := winner(board):
        return 1 if won == "X" else -1
    worth = [value(after(board, cell)) for cell in moves(board)]
    return (max if mover(board) == "X" else min)(worth, default=0)


def worth(board, cell):
    """Return the value of a move to its mover: -1, 0 or 1."""
    result = value(after(board, cell))
    return result if mover(board) == "X" else -result


def best_moves(board):
    """Return the cells that keep the board's value."""
    return [c for c in moves(board) if value(after(board, c)) == value(board)]


def key(board):
    """Return two bits for each cell: 2 is the mover's stone, 0 the other player's."""
    digits = {"-": 1, mover(board): 2}
    return sum(digits.get(stone, 0) << 2 * cell for cell, stone in enumerate(board))


def first_best(board):
    """Return a list with the first best move, or an empty list."""
    return best_moves(board)[:1]


def outcome(x_moves, o_moves):
    """Return the probabilities (X wins, draw, O wins) of a game of two players.

    A player is a function from a board to its moves, which are equally likely.
    """

    @functools.cache
    def expected(board):
        if not moves(board):
            won = winner(board)
            return tuple(Fraction(won == end) for end in ("X", None, "O"))
        chosen = (x_moves if mover(board) == "X" else o_moves)(board)
        results = [expected(after(board, cell)) for cell in chosen]
        return tuple(sum(r) / len(chosen) for r in zip(*results, strict=True))

    return expected("-" * 9)


def rates_against_random(choices, seat):
    """Return the chances to win, draw and lose of the moves `choices`, by board."""

    def own(board):
        return [choices[board]]

    if seat == "first":
        return [float(rate) for rate in outcome(own, moves)]
    return [float(rate) for rate in outcome(moves, own)[::-1]]


def most(moves_of, own, worth):
    """Return the best expected value of an opponent against the player of `own`.

    `own` is `X` or `O`; `moves_of` is a player as in `outcome`. `worth` is a function
    from the winner, None in a draw, to the value to the opponent.
    """

    @functools.cache
    def expected(board):
        if not moves(board):
            return Fraction(worth(winner(board)))
        if mover(board) == own:
            chosen = moves_of(board)
            return sum(expected(after(board, cell)) for cell in chosen) / len(chosen)
        return max(expected(after(board, cell)) for cell in moves(board))

    return expected("-" * 9)


def worst_case(moves_of, own):
    """Return the loss rate of the player of `own` against its worst opponent."""
    return most(moves_of, own, lambda won: won not in (own, None))


def reached(moves_of, own):
    """Return the reachable boards where the player of `own` is to move."""
    boards, level = [], {"-" * 9}
    while level:
        boards += [b for b in sorted(level) if moves(b) and mover(b) == own]
        level = {
            after(board, cell)
            for board in level
            for cell in (moves_of if mover(board) == own else moves)(board)
            if moves(board)
        }
    return boards
