"""Print the marks of simple players in the exam of Connect Four, as rows of a table.

python docs/exam_calibration.py [DEPTH ...]

A player that looks DEPTH moves ahead, and values the boards there with 0, plays the
first of its best moves.
"""

import sys

import jax
import jax.numpy as jnp
import pgx
from jaxtyping import Array, Int, Key

from jax_ttt.dqn import equations
from jax_ttt.envs import pgx_games
from jax_ttt.envs.pgx_games import Player
from jax_ttt.exams import marks, questions
from jax_ttt.players import lookahead, players
from jax_ttt.results.exam import Mark

ENV_ID = "connect_four"


def without_values(depth: int) -> Player:
    """Return the player that looks so many moves ahead, then values boards with 0."""
    env = pgx_games.make_env(ENV_ID)

    def zeros(env_state: pgx.State) -> jax.Array:
        return jnp.zeros(env_state.legal_action_mask.shape)

    def one(env_state: pgx.State) -> jax.Array:
        batch = jax.tree.map(lambda x: x[None], env_state)
        return lookahead.negamax(env, zeros, batch, depth)[0]

    def player(key: Key[Array, ""], env_state: pgx.State) -> Int[Array, " B"]:
        del key
        values = jax.lax.map(one, env_state)
        return equations.greedy(values, env_state.legal_action_mask)

    return player


def row(name: str, player: Player) -> str:
    """Return the marks of a player as a row of a table in Markdown."""
    asked = questions.read_exam(ENV_ID, None)
    exam = marks.take_exam(ENV_ID, player, asked, jax.random.key(0))
    return f"| {name} | " + " | ".join(map(_text, (exam.all, *exam.by_kind.values())))


def _text(mark: Mark) -> str:
    low, high = mark.interval
    return f"{mark.share:.1%} ({low:.1%} to {high:.1%})"


if __name__ == "__main__":
    print(row("random", players.random_player), "|", flush=True)
    for word in sys.argv[1:] or ("1", "2", "4", "6"):
        print(row(f"looks {word} ahead", without_values(int(word))), "|", flush=True)
