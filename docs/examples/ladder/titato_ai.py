"""titato's heuristic as a program that plays tic-tac-toe.

Needs `pip install titato==1.0.1` (MIT).

It plays `AIDefault`, which has no settings: it wins or blocks at once where it can,
else it plays a random cell of its best open lines. Where no line is open it can fail;
the answer is then "?". The argument is the seed, by default 0; each position begins
with it anew.

Run: `python -m jax_ttt.evaluate "program:python docs/examples/ladder/titato_ai.py"`
"""

import random
import sys

from titato.core.game.ai import AIDefault
from titato.core.player.symbol import Symbol
from titato.core.table.param import TableParam
from titato.core.table.table import Table


def choose(moves, seed):
    symbols = Symbol("X"), Symbol("O")
    table = Table(TableParam(ROW=3, COLUMN=3, COMBINATION=3))
    for ply, move in enumerate(moves):
        table.set_symbol_cell(move // 3, move % 3, symbols[ply % 2])
    random.seed(seed)
    try:
        row, column = AIDefault.get_step(
            symbols[len(moves) % 2], table.game_field, table.combinations
        )
    except IndexError:  # a random choice of nothing
        return "?"
    return 3 * row + column


def main():
    if sys.stdin.readline().split()[0] != "tic_tac_toe":
        sys.exit("titato plays tic_tac_toe only")
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        print(choose([int(move) for move in line.split()], seed), flush=True)


if __name__ == "__main__":
    main()
