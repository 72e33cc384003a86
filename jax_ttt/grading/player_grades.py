"""Grades of any player: exact where its policy is known, and by sampling."""

import dataclasses

import numpy as np
from jaxtyping import Array, Key

from jax_ttt.config.catalogue import EnvId, Seat
from jax_ttt.config.errors import GameError
from jax_ttt.games import pgx_games
from jax_ttt.games.tree import Tree
from jax_ttt.grading import exact as grades
from jax_ttt.grading import match_counts, matches
from jax_ttt.grading.grade import FullGrades, Grades, Reached
from jax_ttt.players import network, players
from jax_ttt.players.registry import Entrant


def grade_player(
    env_id: EnvId,
    num_games: int | None,
    entrant: Entrant,
    key: Key[Array, ""],
    tree: Tree | None,
    reached: dict[Seat, Reached] | None = None,
) -> FullGrades:
    """Return the player's grades, exact and sampled.

    `num_games` are played against random. None means 0 if the rates of both seats are
    exact, else 1,024. `tree` holds NumPy arrays; without it, `reached` may be exact.
    `key` is consumed.

    Raises:
        GameError: nothing is exact and `num_games` is 0.
    """
    exact = sampled = None
    if tree is not None and entrant.probs is not None:
        error = _q_error(entrant, tree)
        exact = grades.exactly(tree, entrant.probs, entrant.seats, error)
    if num_games is None:
        rates_are_exact = Grades(exact=exact, reached=reached).mean() is not None
        num_games = 0 if rates_are_exact else 1024
    nothing_exact = exact is None and not reached
    if nothing_exact and not num_games:
        rule = "nothing is exact, so a grade needs at least one game against random"
        raise GameError(f"{entrant.name} in {env_id}: {rule}")
    if num_games:
        env = pgx_games.make_env(env_id)
        match = matches.play_match(
            env, key, entrant.player, players.random_player, num_games
        )
        sampled = match_counts.sampled(match)
    if exact is not None and sampled is not None:
        found = grades.disagreements(exact, sampled)
        sampled = dataclasses.replace(sampled, disagreements=found)
    return FullGrades(exact=exact, reached=reached, sampled=sampled)


def _q_error(entrant: Entrant, tree: Tree) -> float | None:
    """Return the mean error of a saved agent's action values, or None."""
    if (agent := entrant.agent) is None:
        return None
    q_values = network.decision_values(agent.network, agent.params, tree)
    return grades.q_error(tree, np.asarray(q_values))
