"""xo's minimax as a program that plays tic-tac-toe.

Needs `pip install xo==1.1.0` (MIT).

It plays one of the best moves of `ai.evaluate`, a full search that counts depth, at
random, as the library's own game on the command line does. The argument is the seed, by
default 0; each position begins with it anew.

Run: `python -m jax_ttt.evaluate "program:python docs/examples/ladder/xo_minimax.py"`
"""

import random
import sys

from xo import ai
from xo.board import Board


def choose(moves, seed):
    board = Board.fromstring()
    for ply, move in enumerate(moves):
        board[move // 3 + 1, move % 3 + 1] = "xo"[ply % 2]
    random.seed(seed)
    row, column = random.choice(ai.evaluate(board, "xo"[len(moves) % 2]).positions)
    return 3 * (row - 1) + column - 1


def main():
    if sys.stdin.readline().split()[0] != "tic_tac_toe":
        sys.exit("xo plays tic_tac_toe only")
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        print(choose([int(move) for move in line.split()], seed), flush=True)


if __name__ == "__main__":
    main()
