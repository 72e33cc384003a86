"""BitBully, a perfect solver, as a program that plays Connect Four on 7 x 6 cells.

Needs `pip install bitbully==0.0.79 bitbully-databases==0.0.2` (AGPL-3.0 and MIT).

It plays the library's default agent: a search without a limit of depth, with an opening
book of 12 plies that knows distances. It prefers fast wins and slow losses; of equal
moves it plays the one nearest to the centre. Nothing is random.

Run: `python docs/examples/exam.py "program:python
docs/examples/ladder/bitbully_solver.py"`
"""

import sys

import bitbully


def choose(agent, moves):
    board = bitbully.Board()
    for move in moves:
        board.play(move)
    return agent.best_move(board)


def main():
    if sys.stdin.readline().split()[0] != "connect_7x6":
        sys.exit("bitbully plays connect_7x6 only")
    agent = bitbully.BitBully()
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        print(choose(agent, [int(move) for move in line.split()]), flush=True)


if __name__ == "__main__":
    main()
