"""tictactoe-vish's minimax as a program that plays tic-tac-toe.

Needs `pip install tictactoe-vish==0.1.0` (MIT).

It plays `AIPlayer` with its default level, hard: a full search that counts depth, and
the first of equal moves. The argument `medium` or `easy` chooses a weaker level, which
plays at random without a seed. The computer is O, the library's default, in both seats.

Run:
`python -m jax_ttt.evaluate "program:python docs/examples/ladder/tictactoe_vish.py"`
"""

import sys

from tictactoe.ai import AIPlayer
from tictactoe.board import Board


def choose(player, moves):
    board = Board()
    for ply, move in enumerate(moves):
        own = (len(moves) - ply) % 2 == 0
        board.make_move(move // 3, move % 3, "O" if own else "X")
    row, column = player.get_best_move(board)
    return 3 * row + column


def main():
    if sys.stdin.readline().split()[0] != "tic_tac_toe":
        sys.exit("tictactoe-vish plays tic_tac_toe only")
    player = AIPlayer(sys.argv[1] if len(sys.argv) > 1 else "hard")
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        print(choose(player, [int(move) for move in line.split()]), flush=True)


if __name__ == "__main__":
    main()
