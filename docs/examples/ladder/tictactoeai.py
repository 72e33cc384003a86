"""TicTacToeAI's "hard" level as a program that plays tic-tac-toe.

Needs `pip install TicTacToeAI==0.0.4` (MIT).

It plays `get_best_move` with the level of the library's README, hard: an alpha-beta
search to the end. The argument `medium` chooses minimax, and `easy` random moves
without a seed. In the library the computer is X and moves second; here it is X in both
seats.

Run: `python -m jax_ttt.evaluate "program:python docs/examples/ladder/tictactoeai.py"`
"""

import sys

import TicTacToeAI


def choose(level, moves):
    board = [[" "] * 3 for _ in range(3)]
    for ply, move in enumerate(moves):
        own = (len(moves) - ply) % 2 == 0
        TicTacToeAI.make_move(board, move // 3, move % 3, "X" if own else "O")
    row, column = TicTacToeAI.get_best_move(board, level)
    return 3 * row + column


def main():
    if sys.stdin.readline().split()[0] != "tic_tac_toe":
        sys.exit("TicTacToeAI plays tic_tac_toe only")
    level = sys.argv[1] if len(sys.argv) > 1 else "hard"
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        print(choose(level, [int(move) for move in line.split()]), flush=True)


if __name__ == "__main__":
    main()
