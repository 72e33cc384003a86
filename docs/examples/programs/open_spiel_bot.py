"""Play the moves of an OpenSpiel bot (`pip install open_spiel`).

    python open_spiel_bot.py mcts [SIMULATIONS]   tree search, by default 1,000
    python open_spiel_bot.py minimax [DEPTH]      alpha-beta search, by default 9 moves
    python open_spiel_bot.py NAME                 a bot of `pyspiel.registered_bots()`

Nine moves are a whole game of tic-tac-toe. In four in a row use a depth of 4 or so; a
board at that depth counts as a draw. The tree search begins anew, with the same random
numbers, in each position, so that its answer depends only on the position.
"""

import sys

import pyspiel
from open_spiel.python.algorithms.minimax import alpha_beta_search

GAMES = {
    "tic_tac_toe": "tic_tac_toe",
    "mnk_4x4_4": "mnk(m=4,n=4,k=4)",
    "connect_four": "connect_four",
}


def load_game(name):
    """Return OpenSpiel's game; connect_WxH is Connect Four with W columns."""
    if name in GAMES:
        return pyspiel.load_game(GAMES[name])
    columns, rows = name.removeprefix("connect_").split("x")
    return pyspiel.load_game(f"connect_four(rows={rows},columns={columns})")


def choose(state, bot, number):
    """Return the bot's move; the number is that of simulations, or the depth."""
    game, player = state.get_game(), state.current_player()
    if bot == "minimax":
        depth = number or 9
        search = {"value_function": lambda state: 0, "maximum_depth": depth}
        return alpha_beta_search(game, state, **search, maximizing_player_id=player)[1]
    if bot == "mcts":
        rollouts = pyspiel.RandomRolloutEvaluator(n_rollouts=1, seed=1)
        search = {"uct_c": 2, "max_simulations": number or 1000, "solve": True}
        other = {"max_memory_mb": 1000, "seed": 1, "verbose": False}
        return pyspiel.MCTSBot(game, rollouts, **search, **other).step(state)
    return pyspiel.load_bot(bot, game, player).step(state)


if __name__ == "__main__":
    bot, number = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None
    game = load_game(sys.stdin.readline().partition(" ")[0])
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        state = game.new_initial_state()
        for move in line.split():
            state.apply_action(int(move))
        print(choose(state, bot, number), flush=True)
