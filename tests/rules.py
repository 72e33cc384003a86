"""The rules of tic-tac-toe and exact play, written down once more, in fractions.

Nothing of the package is used, so that what it finds can be checked against this.
Boards are strings of nine `X`, `O` and `-`, row by row.
"""

import functools
from fractions import Fraction

LINES = ("012", "345", "678", "036", "147", "258", "048", "246")


def winner(board):
    """Return who has three in a line, or None."""
    for line in LINES:
        cells = {board[int(cell)] for cell in line}
        if len(cells) == 1 and cells != {"-"}:
            return cells.pop()
    return None


def mover(board):
    """Return whose turn it is."""
    return "X" if board.count("X") == board.count("O") else "O"


def moves(board):
    """Return the cells to play in; none if the game is over."""
    return [] if winner(board) else [i for i in range(9) if board[i] == "-"]


def after(board, cell):
    """Return the board once the mover has played there."""
    return board[:cell] + mover(board) + board[cell + 1 :]


@functools.cache
def value(board):
    """Return what the board is worth to X under best play: -1, 0 or 1."""
    if won := winner(board):
        return 1 if won == "X" else -1
    worth = [value(after(board, cell)) for cell in moves(board)]
    return (max if mover(board) == "X" else min)(worth, default=0)


def best_moves(board):
    """Return the cells that keep the board's value."""
    return [c for c in moves(board) if value(after(board, c)) == value(board)]


def first_best(board):
    """Return the first of them, as a list."""
    return best_moves(board)[:1]


def outcome(x_moves, o_moves):
    """Return the chances (X wins, draw, O wins) of two players.

    A player is a function from a board to the cells it may play, each as likely.
    """

    @functools.cache
    def walk(board):
        if not moves(board):
            won = winner(board)
            return tuple(Fraction(won == end) for end in ("X", None, "O"))
        chosen = (x_moves if mover(board) == "X" else o_moves)(board)
        results = [walk(after(board, cell)) for cell in chosen]
        return tuple(sum(r) / len(chosen) for r in zip(*results, strict=True))

    return walk("-" * 9)


def most(moves_of, own, worth):
    """Return the most that an opponent can expect against the player of `own`.

    `own` is `X` or `O`, `moves_of` as for `outcome`, and `worth` what an end is worth
    to the opponent: a function of the winner, None in a draw.
    """

    @functools.cache
    def walk(board):
        if not moves(board):
            return Fraction(worth(winner(board)))
        if mover(board) == own:
            chosen = moves_of(board)
            return sum(walk(after(board, cell)) for cell in chosen) / len(chosen)
        return max(walk(after(board, cell)) for cell in moves(board))

    return walk("-" * 9)


def worst_case(moves_of, own):
    """Return how often the player of `own` loses to who beats it most often."""
    return most(moves_of, own, lambda won: won not in (own, None))


def reached(moves_of, own):
    """Return the boards that come up where the player of `own` is to move."""
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
