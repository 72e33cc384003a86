"""aima3's alpha-beta searches as a program that plays tic-tac-toe and Connect Four.

Needs `pip install aima3==1.0.11 numpy==2.4.6` (both BSD); aima3 does not ask for numpy.

aima3 is the code of the book "Artificial Intelligence: A Modern Approach". In
tic-tac-toe it plays `AlphaBetaPlayer`, which searches to the end, and in Connect Four
`AlphaBetaCutoffPlayer` with its fixed depth of 4 and no evaluation function; the
argument `alphabeta` or `cutoff` chooses another. Of equal moves the first is played.

Run: `python -m jax_ttt.evaluate "program:python docs/examples/ladder/aima.py"`
"""

import sys

from aima3 import games

PLAYERS = {"alphabeta": games.AlphaBetaPlayer, "cutoff": games.AlphaBetaCutoffPlayer}
GAMES = {
    "tic_tac_toe": (games.TicTacToe, "alphabeta"),
    "connect_7x6": (games.ConnectFour, "cutoff"),
}


def number(game, action):
    """Return the cell or the column of an action; the library counts from 1."""
    x, y = action
    return x - 1 if isinstance(game, games.ConnectFour) else 3 * (x - 1) + y - 1


def choose(game, player, moves):
    state = game.initial
    for move in moves:
        actions = {number(game, action): action for action in game.actions(state)}
        state = game.result(state, actions[move])
    return number(game, player.get_action(state))


def main():
    name = sys.stdin.readline().split()[0]
    if name not in GAMES:
        sys.exit("aima3 plays tic_tac_toe and connect_7x6 only")
    make_game, search = GAMES[name]
    game = make_game()
    player = PLAYERS[sys.argv[1] if len(sys.argv) > 1 else search]()
    player.set_game(game)
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        print(choose(game, player, [int(move) for move in line.split()]), flush=True)


if __name__ == "__main__":
    main()
