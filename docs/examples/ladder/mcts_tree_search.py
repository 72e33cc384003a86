"""monte-carlo-tree-search as a program that plays tic-tac-toe and Connect Four.

Needs `pip install monte-carlo-tree-search==2.1.0` (MIT).

It plays `MCTS` with its defaults and 1,000 iterations for each move. The library's
README and example use 1 second instead, whose answers no seed can repeat. The first
argument is the seed, by default 0, with which each position begins anew. The second
changes the iterations; 0 means 1 second.

Run:
`python -m jax_ttt.evaluate "program:python docs/examples/ladder/mcts_tree_search.py"`
"""

import random
import sys

from mcts.example.connectmnk import ConnectMNKState
from mcts.example.naughtsandcrosses import NaughtsAndCrossesState
from mcts.searcher.mcts import MCTS

GAMES = {
    "tic_tac_toe": NaughtsAndCrossesState,
    "connect_7x6": lambda: ConnectMNKState(7, 6, 4),
}


def number(state, action):
    """Return the cell or the column of an action."""
    if isinstance(state, ConnectMNKState):
        return action.columnIndex
    return 3 * action.x + action.y


def choose(state, limit, moves):
    for move in moves:
        actions = {number(state, act): act for act in state.get_possible_actions()}
        state = state.take_action(actions[move])
    return number(state, MCTS(**limit).search(initial_state=state))


def main():
    name = sys.stdin.readline().split()[0]
    if name not in GAMES:
        sys.exit("monte-carlo-tree-search plays tic_tac_toe and connect_7x6 only")
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    iterations = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    limit = {"iteration_limit": iterations} if iterations else {"time_limit": 1000}
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        random.seed(seed)
        moves = [int(move) for move in line.split()]
        print(choose(GAMES[name](), limit, moves), flush=True)


if __name__ == "__main__":
    main()
