"""Print the scores of simple players in the exam of Connect Four, as rows of a table.

python docs/exam_calibration.py [DEPTH ...]

A player that looks DEPTH moves ahead, and values the boards there with 0, plays the
first of its best moves. The last row is the player `mcts-online`.
"""

import sys
import time

import jax
import jax.numpy as jnp
import pgx
from examples.exam import examine
from jaxtyping import Array, Int

import jax_ttt
from jax_ttt.dqn import equations
from jax_ttt.games import pgx_games
from jax_ttt.players import search_players
from jax_ttt.players.user_players import PlayerFn

ENV_ID = "connect_four"
SEARCH = "mcts-online"


def without_values(depth: int) -> PlayerFn:
    """Return the player that looks so many moves ahead, then values boards with 0."""
    env = pgx_games.make_env(ENV_ID)

    def zeros(env_state: pgx.State) -> jax.Array:
        return jnp.zeros(env_state.legal_action_mask.shape)

    def player(env_state: pgx.State) -> Int[Array, " B"]:
        values = search_players.negamax(env, zeros, env_state, depth)
        return equations.greedy(values, env_state.legal_action_mask)

    return player


def row(name: str, player: str | PlayerFn) -> str:
    """Return the scores of a player as a row of a table in Markdown."""
    begin = time.process_time()
    shares = dict(examine(jax_ttt.player(player, env_id=ENV_ID)))
    seconds = f"{time.process_time() - begin:.0f} s"
    return f"| {' | '.join([name, *shares.values(), seconds])} |"


if __name__ == "__main__":
    print(row("random", "random"), flush=True)
    for word in sys.argv[1:] or ("1", "2", "4", "6"):
        print(row(f"looks {word} ahead", without_values(int(word))), flush=True)
    print(row(f"`{SEARCH}`", SEARCH), flush=True)
