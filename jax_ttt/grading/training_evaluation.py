"""The evaluation of an agent in training: exact over its game's tree, or sampled.

The device computes an `Evaluation`, and the host makes it a `Grade`.
"""

from typing import NamedTuple

import jax
import numpy as np
from flax import nnx
from jaxtyping import Array, Key

from jax_ttt.config.game_facts import Seat
from jax_ttt.config.settings import Config
from jax_ttt.games import pgx_games
from jax_ttt.games.tree import Tree
from jax_ttt.grading import sampled_match
from jax_ttt.grading.grade import Grade, SeatGrade
from jax_ttt.grading.sampled_match import MatchCounts
from jax_ttt.players import random_players
from jax_ttt.players.network_player import Network, greedy_moves, greedy_player
from jax_ttt.solver import outcomes
from jax_ttt.solver.outcomes import Report, SeatResults


class Exact(NamedTuple):
    """The exact results of a network's greedy player, on the device."""

    report: Report
    moves: jax.Array  # (D,) int32 in the positions to decide


class Evaluation(NamedTuple):
    """An agent's results; a part is None if not requested or not available."""

    exact: Exact | None
    sampled: MatchCounts | None  # against random
    searched: dict[Seat, SeatGrade] | None = None  # {} if the search was interrupted


def grade_exactly(network: Network, params: nnx.State, tree: Tree) -> Exact:
    """Return the exact results of the greedy player of `params`."""
    moves, probs = greedy_moves(network, params, tree)
    return Exact(report=outcomes.seat_report(tree, probs), moves=moves)


def play_random(
    network: Network, params: nnx.State, key: Key[Array, ""], num_games: int
) -> MatchCounts:
    """Play a match of the greedy player of `params` against random.

    `key` is consumed.
    """
    env = pgx_games.make_env(network.env_id)
    player = greedy_player(network, params)
    return sampled_match.play_match(
        env, key, player, random_players.random_player, num_games
    )


def grade_evaluation(config: Config, evaluation: Evaluation) -> Grade:
    """Return the grade of an agent with these settings.

    Raises:
        FloatingPointError: an action value is not finite.
    """
    seats = dict(evaluation.searched or {})
    if evaluation.exact is not None:
        report = evaluation.exact.report
        if not np.isfinite(report.first.random.win_rate):
            raise FloatingPointError("the network's action values are not finite")
        seats = {"first": _seat(report.first), "second": _seat(report.second)}
    sampled = None
    if evaluation.sampled is not None:
        sampled = sampled_match.match_of_counts(evaluation.sampled)
    return Grade(
        env_id=config.env_id,
        seats=config.seats,
        first=seats.get("first"),
        second=seats.get("second"),
        sampled=sampled,
    )


def _seat(results: SeatResults) -> SeatGrade:
    wins, draws, losses = map(float, results.random)
    return SeatGrade(
        win_rate=wins,
        draw_rate=draws,
        loss_rate=losses,
        worst_loss_rate=float(results.worst_loss_rate),
        complete=True,
        beaten=bool(results.can_be_beaten),
    )
