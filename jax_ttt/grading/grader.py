"""The grade of any player: exact where that is possible, and by sampling."""

import dataclasses

import jax
import numpy as np
from jaxtyping import Array, Key

from jax_ttt.config.errors import GameError
from jax_ttt.config.game_facts import EnvId, Seat
from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.games.tree import Tree
from jax_ttt.grading import exact, match, search
from jax_ttt.grading.grade import Grade, SeatGrade
from jax_ttt.grading.search import OnBatch
from jax_ttt.players import basic, network_player
from jax_ttt.players.registry import Entrant

NUM_GAMES = 1024
"""Games of a match against random where the rates are not exact."""


def follow_lines(
    env_id: EnvId,
    entrant: Entrant,
    max_positions: int | None = None,
    sharding: jax.sharding.Sharding | None = None,
    on_batch: OnBatch = lambda found, level, done: None,
) -> Grade:
    """Return what following the player's lines of play tells, without any sampling.

    In an enumerable game the whole tree is known. Elsewhere all positions that the
    player reaches are enumerated, at most `max_positions` in a seat; None means as many
    as memory and disk hold. Nothing is known of a player whose policy is unknown.

    Raises:
        PlayerError: the player plays an illegal move.
    """
    tree = trees.host_tree(env_id)
    if tree is not None and entrant.probs is not None:
        return exact.grade_policy(
            env_id=env_id,
            tree=tree,
            probs=entrant.probs,
            seats=entrant.seats,
            mean_abs_q_error=_q_error(entrant, tree),
        )
    seats: dict[Seat, SeatGrade] = {}
    if tree is None and not search.why_not(entrant, env_id):
        searched = search.search_by_seat(
            entrant, env_id, max_positions, sharding, on_batch
        )
        seats = {seat: results.grade for seat, results in searched.items()}
    return Grade(
        env_id=env_id,
        seats=entrant.seats,
        first=seats.get("first"),
        second=seats.get("second"),
    )


def with_match(
    grade: Grade, entrant: Entrant, key: Key[Array, ""], num_games: int | None = None
) -> Grade:
    """Return the grade with a match of `num_games` against random.

    None means no game if the rates of both seats are exact, else `NUM_GAMES`. `key` is
    consumed.

    Raises:
        GameError: nothing is known of the player and `num_games` is 0.
    """
    if num_games is None:
        num_games = NUM_GAMES if grade.mean_rates() is None else 0
    if not num_games:
        if not grade.followed:
            rule = "nothing is exact, so a grade needs at least one game against random"
            raise GameError(f"{entrant.name} in {grade.env_id}: {rule}")
        return grade
    env = pgx_games.make_env(grade.env_id)
    counts = match.play_match(env, key, entrant.player, basic.random_player, num_games)
    return dataclasses.replace(grade, sampled=match.match_of_counts(counts))


def _q_error(entrant: Entrant, tree: Tree[np.ndarray]) -> float | None:
    """Return the mean error of a saved agent's action values, or None."""
    if (agent := entrant.agent) is None:
        return None
    q_values = network_player.decision_values(agent.network, agent.params, tree)
    return exact.q_error(tree, np.asarray(q_values))
