"""easyAI's searches as a program that plays tic-tac-toe and Connect Four.

Needs `pip install easyAI==2.0.12` (MIT).

It plays `Negamax` with the depths of the library's own example games, 6 in tic-tac-toe
and 5 in Connect Four. The first argument, `negamax`, `sss` or `dual`, chooses another
search, and the second another depth. Nothing is random.

Run: `python -m jax_ttt.evaluate "program:python docs/examples/ladder/easyai_search.py"`
"""

import sys

from easyAI import DUAL, SSS, AI_Player, Negamax
from easyAI.games.ConnectFour import ConnectFour
from easyAI.games.TicTacToe import TicTacToe

SEARCHES = {"negamax": Negamax, "sss": SSS, "dual": DUAL}
# The game's class, the depth, and the library's number of the first cell or column.
GAMES = {"tic_tac_toe": (TicTacToe, 6, 1), "connect_7x6": (ConnectFour, 5, 0)}


def choose(make_game, search, first, moves):
    player = AI_Player(search)
    game = make_game([player, player])
    for move in moves:
        game.make_move(move + first)
        game.switch_player()
    return int(game.get_move()) - first


def main():
    name = sys.stdin.readline().split()[0]
    if name not in GAMES:
        sys.exit("easyAI plays tic_tac_toe and connect_7x6 only")
    make_game, depth, first = GAMES[name]
    make_search = SEARCHES[sys.argv[1] if len(sys.argv) > 1 else "negamax"]
    depth = int(sys.argv[2]) if len(sys.argv) > 2 else depth
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        moves = [int(move) for move in line.split()]
        print(choose(make_game, make_search(depth), first, moves), flush=True)


if __name__ == "__main__":
    main()
