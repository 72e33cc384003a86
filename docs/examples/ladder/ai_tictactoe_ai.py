"""ai-tictactoe's minimax as a program that plays tic-tac-toe.

Needs `pip install ai-tictactoe==0.1.5` (no licence named).

It plays `get_ai_move`, which has no settings: a full search that counts depth, the
first of equal moves, and the corner on an empty board. In the library the computer is O
and moves second; here it is O in both seats. The library's pause of 0.3 seconds before
each move is left out.

Run:
`python -m jax_ttt.evaluate "program:python docs/examples/ladder/ai_tictactoe_ai.py"`
"""

import sys

from ai_tictactoe import tictactoe


def choose(moves):
    game = tictactoe.TicTacToeAI()
    for ply, move in enumerate(moves):
        own = (len(moves) - ply) % 2 == 0
        game.make_move(divmod(move, 3), "O" if own else "X")
    row, column = game.get_ai_move()
    return 3 * row + column


def main():
    if sys.stdin.readline().split()[0] != "tic_tac_toe":
        sys.exit("ai-tictactoe plays tic_tac_toe only")
    tictactoe.time.sleep = lambda seconds: None
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        print(choose([int(move) for move in line.split()]), flush=True)


if __name__ == "__main__":
    main()
