"""CatchemAlphaZero's tree search as a program that plays tic-tac-toe and Connect Four.

Needs `pip install --no-deps catchem-alpha-zero==0.0.4 chess==1.11.2 colorama==0.4.6
numpy==2.4.6` (MIT, GPL-3.0, BSD and BSD). Its other dependencies, torch among them, are
for its networks and pictures.

It plays `MctsSolver` with its defaults: 1,000 simulations with random rollouts. The
argument is the seed, by default 0; each position begins with it anew.

Run: `python -m jax_ttt.evaluate "program:python docs/examples/ladder/caz_mcts.py"`
"""

import random
import sys

from caz.games import ConnectX, TicTacToe
from caz.solvers.mcts import MctsSolver

GAMES = {"tic_tac_toe": TicTacToe, "connect_7x6": ConnectX}


def choose(game, moves, seed):
    state = game.initial_state()
    for move in moves:
        state.set_move(move)
    random.seed(seed)
    return MctsSolver().solve(state)


def main():
    name = sys.stdin.readline().split()[0]
    if name not in GAMES:
        sys.exit("CatchemAlphaZero plays tic_tac_toe and connect_7x6 only")
    game = GAMES[name]()
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        print(choose(game, [int(move) for move in line.split()], seed), flush=True)


if __name__ == "__main__":
    main()
