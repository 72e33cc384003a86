"""puissance4's tree search as a program that plays Connect Four on 7 x 6 cells.

Needs `pip install puissance4==0.6.1` (MIT).

It plays `UCT` with its defaults, as the library's own game against a human does: it
wins or blocks at once where it can, else it descends its tree 7 times, with 8 random
games each. The argument is the seed, by default 0; each position begins with it anew.

Run: `python docs/examples/exam.py "program:python
docs/examples/ladder/puissance4_uct.py"`
"""

import random
import sys

from puissance4.agent.uct import UCT
from puissance4.env.grille import Grille


def choose(moves, seed):
    grid = Grille()
    for ply, move in enumerate(moves):
        grid.drop("XO"[ply % 2], move)
    random.seed(seed)
    column, _ = UCT(symbole="XO"[len(moves) % 2]).play(grid)
    return column


def main():
    if sys.stdin.readline().split()[0] != "connect_7x6":
        sys.exit("puissance4 plays connect_7x6 only")
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        print(choose([int(move) for move in line.split()], seed), flush=True)


if __name__ == "__main__":
    main()
