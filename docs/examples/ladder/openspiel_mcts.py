"""OpenSpiel's Python tree search as a program that plays tic-tac-toe and Connect Four.

Needs `pip install open_spiel==2.0.2` (Apache-2.0).

It plays `MCTSBot` with the settings of the library's example `mcts.py`: 1,000
simulations of 1 random rollout, an exploration constant of 2, and solved positions
marked. The argument is the seed, by default 0; each position begins with it anew.

Run:
`python -m jax_ttt.evaluate "program:python docs/examples/ladder/openspiel_mcts.py"`
"""

import sys

import numpy as np
import pyspiel
from open_spiel.python.algorithms import mcts

GAMES = {"tic_tac_toe": "tic_tac_toe", "connect_7x6": "connect_four"}


def choose(game, moves, seed):
    state = game.new_initial_state()
    for move in moves:
        state.apply_action(move)
    rng = np.random.RandomState(seed)
    rollouts = mcts.RandomRolloutEvaluator(n_rollouts=1, random_state=rng)
    search = {"uct_c": 2, "max_simulations": 1000, "solve": True}
    bot = mcts.MCTSBot(game, evaluator=rollouts, random_state=rng, **search)
    return bot.step(state)


def main():
    name = sys.stdin.readline().split()[0]
    if name not in GAMES:
        sys.exit("OpenSpiel plays tic_tac_toe and connect_7x6 only")
    game = pyspiel.load_game(GAMES[name])
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        print(choose(game, [int(move) for move in line.split()], seed), flush=True)


if __name__ == "__main__":
    main()
