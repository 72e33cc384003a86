"""OpenSpiel's exact solvers as a program that plays tic-tac-toe.

Needs `pip install open_spiel==2.0.2` (Apache-2.0).

By default it solves the game at the start with `MinimaxSolver` and plays the first of
the best moves, as the library's example `minimax_solver.py` does. With the argument
`alphabeta` it plays `alpha_beta_search`, which searches each position to the end.
Nothing is random.

Run:
`python -m jax_ttt.evaluate "program:python docs/examples/ladder/openspiel_minimax.py"`
"""

import sys

import pyspiel
from open_spiel.python.algorithms import minimax, minimax_solver


def choose(game, solver, moves):
    state = game.new_initial_state()
    for move in moves:
        state.apply_action(move)
    if solver is None:
        return minimax.alpha_beta_search(game, state=state)[1]
    values = solver.action_values_from_state(state)
    return max(state.legal_actions(), key=lambda action: values[action])


def main():
    if sys.stdin.readline().split()[0] != "tic_tac_toe":
        sys.exit("OpenSpiel's solvers play tic_tac_toe only")
    game = pyspiel.load_game("tic_tac_toe")
    solver = None
    if sys.argv[1:] != ["alphabeta"]:
        solver = minimax_solver.MinimaxSolver("tic_tac_toe")
        solver.solve()
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        print(choose(game, solver, [int(move) for move in line.split()]), flush=True)


if __name__ == "__main__":
    main()
