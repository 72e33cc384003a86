"""Grades of any player: exactly where its policy is known, and by sampling."""

from typing import Any

import numpy as np
from jaxtyping import Array, Key

from jax_ttt.config.catalogue import EnvId
from jax_ttt.envs import pgx_games
from jax_ttt.envs.tree import Tree
from jax_ttt.evaluation import grades, matches
from jax_ttt.players import network, players
from jax_ttt.players.registry import Entrant


def grade_player(
    env_id: EnvId,
    num_games: int | None,
    entrant: Entrant,
    key: Key[Array, ""],
    tree: Tree | None,
) -> dict[str, Any]:
    """Return what can be said of the player, exactly and by sample.

    `num_games` of a sampled match against random, None for 1,024 where nothing is exact
    and 0 elsewhere. `tree` is of NumPy arrays. `key` is consumed.
    """
    summary: dict[str, Any] = {}
    if tree is not None and entrant.probs is not None:
        summary["exact"] = grades.exactly(tree, entrant.probs, entrant.seats)
        if (agent := entrant.agent) is not None:
            q_values = network.decision_values(agent.network, agent.params, tree)
            error = grades.q_error(tree, np.asarray(q_values))
            summary["exact"]["mean_abs_q_error"] = error
    if num_games is None:
        num_games = 0 if "exact" in summary else 1024
    if num_games:
        env = pgx_games.make(env_id)
        pair = entrant.player, players.random_player
        summary["sampled"] = matches.sampled_rates(
            matches.play_match(env, key, *pair, num_games)
        )
    if num_games and "exact" in summary:
        found = grades.disagreements(summary["exact"], summary["sampled"])
        summary["sampled"]["disagreements"] = [list(pair) for pair in found]
    return summary
