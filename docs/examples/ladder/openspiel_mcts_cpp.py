"""OpenSpiel's C++ tree search as a program that plays tic-tac-toe and Connect Four.

Needs `pip install open_spiel==2.0.2` (Apache-2.0).

It plays `pyspiel.MCTSBot` with the settings of the library's example `mcts.py`: 1,000
simulations of 1 random rollout, an exploration constant of 2, and solved positions
marked. The argument is the seed, by default 0; each position begins with it anew.

Run:
`python -m jax_ttt.evaluate "program:python docs/examples/ladder/openspiel_mcts_cpp.py"`
"""

import sys

import pyspiel

GAMES = {"tic_tac_toe": "tic_tac_toe", "connect_7x6": "connect_four"}


def choose(game, moves, seed):
    state = game.new_initial_state()
    for move in moves:
        state.apply_action(move)
    rollouts = pyspiel.RandomRolloutEvaluator(n_rollouts=1, seed=seed)
    search = {"uct_c": 2, "max_simulations": 1000, "solve": True}
    other = {"max_memory_mb": 1000, "seed": seed, "verbose": False}
    return pyspiel.MCTSBot(game, rollouts, **search, **other).step(state)


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
