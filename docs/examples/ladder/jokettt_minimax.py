"""jokettt's minimax as a program that plays tic-tac-toe.

Needs `pip install jokettt==1.0.0` (MIT).

It plays `MinimaxPlayer` with its defaults: an alpha-beta search to the end that
shuffles the moves first, and a random first move of the game. The argument is the seed,
by default 0; each position begins with it anew.

Run:
`python -m jax_ttt.evaluate "program:python docs/examples/ladder/jokettt_minimax.py"`
"""

import random
import sys

from jokettt.board.board import Board
from jokettt.players.minimaxplayer import MinimaxPlayer


def choose(moves, seed):
    board = Board("x", "o")
    for ply, move in enumerate(moves):
        board.place_pawn(move // 3, move % 3, "xo"[ply % 2])
    random.seed(seed)  # here, as Board seeds the same generator from the clock
    row, column = MinimaxPlayer("xo"[len(moves) % 2]).move(board)
    return 3 * row + column


def main():
    if sys.stdin.readline().split()[0] != "tic_tac_toe":
        sys.exit("jokettt plays tic_tac_toe only")
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        print(choose([int(move) for move in line.split()], seed), flush=True)


if __name__ == "__main__":
    main()
