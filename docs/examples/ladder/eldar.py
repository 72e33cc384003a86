"""eldar-tic-tac-toe's "hard" level as a program that plays tic-tac-toe.

Needs `pip install eldar-tic-tac-toe==2.0.1` (no licence named).

It plays `AI(board, "hard")`, which the library calls minimax. In the library the
computer is O and moves second; here it is O in both seats. Nothing is random.

Run: `python -m jax_ttt.evaluate "program:python docs/examples/ladder/eldar.py"`
"""

import sys

from tic_tac_toe.ai import AI
from tic_tac_toe.board import Board


def choose(moves):
    board = Board(emoji=False)
    for ply, move in enumerate(moves):
        own = (len(moves) - ply) % 2 == 0
        board.place(move, "O" if own else "X")
    return AI(board, "hard").move()


def main():
    if sys.stdin.readline().split()[0] != "tic_tac_toe":
        sys.exit("eldar-tic-tac-toe plays tic_tac_toe only")
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        print(choose([int(move) for move in line.split()]), flush=True)


if __name__ == "__main__":
    main()
