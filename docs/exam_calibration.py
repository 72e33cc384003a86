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
from jaxtyping import Array, Int, Key

from jax_ttt.config.grade import ExamScore
from jax_ttt.dqn import equations
from jax_ttt.games import pgx_games
from jax_ttt.games.pgx_games import ChooseFn
from jax_ttt.grading import exam
from jax_ttt.players import lookahead, random_players, registry

ENV_ID = "connect_four"
SEARCH = "mcts-online"


def without_values(depth: int) -> ChooseFn:
    """Return the player that looks so many moves ahead, then values boards with 0."""
    env = pgx_games.make_env(ENV_ID)

    def zeros(env_state: pgx.State) -> jax.Array:
        return jnp.zeros(env_state.legal_action_mask.shape)

    def player(key: Key[Array, ""], env_state: pgx.State) -> Int[Array, " B"]:
        del key
        values = lookahead.negamax(env, zeros, env_state, depth)
        return equations.greedy(values, env_state.legal_action_mask)

    return player


def searching() -> ChooseFn:
    """Return the player `mcts-online`."""
    spec = registry.read_player_name(SEARCH)
    return registry.make_player(spec, ENV_ID, jax.random.key(0)).choose


def row(name: str, player: ChooseFn) -> str:
    """Return the scores of a player as a row of a table in Markdown."""
    questions = exam.read_exam(ENV_ID, None)
    begin = time.process_time()
    scores = exam.take_exam(ENV_ID, player, questions, jax.random.key(0))
    seconds = f"{time.process_time() - begin:.0f} s"
    cells = [_text(score) for score in (scores.all, *scores.by_kind.values())]
    return f"| {' | '.join([name, *cells, seconds])} |"


def _text(score: ExamScore) -> str:
    low, high = score.interval
    return f"{score.share:.1%} ({low:.1%} to {high:.1%})"


if __name__ == "__main__":
    print(row("random", random_players.random_player), flush=True)
    for word in sys.argv[1:] or ("1", "2", "4", "6"):
        print(row(f"looks {word} ahead", without_values(int(word))), flush=True)
    print(row(f"`{SEARCH}`", searching()), flush=True)
