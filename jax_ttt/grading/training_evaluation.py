"""The evaluation of an agent in training: exact over its game's tree, or sampled.

The device computes an `Evaluation`, and the host makes it a `Grade`.
"""

from typing import NamedTuple

import numpy as np
from flax import nnx
from jaxtyping import Array, Key

from jax_ttt.config.game_facts import SEATS, Seat
from jax_ttt.config.grade import Grade, Match, Rates, SeatGrade
from jax_ttt.config.settings import Config
from jax_ttt.games import pgx_games
from jax_ttt.games.tree import Tree
from jax_ttt.grading import sampled_match
from jax_ttt.grading.sampled_match import MatchCounts
from jax_ttt.networks.q_network import Network
from jax_ttt.players.player import random_player
from jax_ttt.players.saved_agents import GreedyPlayer, greedy_policy
from jax_ttt.solver import outcomes
from jax_ttt.solver.outcomes import SeatArrays


class Evaluation(NamedTuple):
    """An agent's results; a part is None if not requested or not available."""

    exact: SeatArrays | None
    sampled: MatchCounts | None  # against random
    searched: dict[Seat, SeatGrade] | None = None  # {} if the search was interrupted


def grade_exactly(network: Network, params: nnx.State, tree: Tree) -> SeatArrays:
    """Return the exact results of the greedy player of `params`."""
    return outcomes.seat_results(tree, greedy_policy(network, params, tree))


def play_random(
    network: Network, params: nnx.State, key: Key[Array, ""], num_games: int
) -> MatchCounts:
    """Play a match of the greedy player of `params` against random.

    `key` is consumed.
    """
    env = pgx_games.make_env(network.env_id)
    player = GreedyPlayer(network, params)
    counts, _ = sampled_match.play_match(env, key, player, random_player, num_games)
    return counts


def grade_evaluation(config: Config, evaluation: Evaluation) -> Grade:
    """Return the grade of an agent with these settings.

    Raises:
        FloatingPointError: an action value is not finite.
    """
    seats = dict(evaluation.searched or {})
    if evaluation.exact is not None:
        seats = _seat_grades(evaluation.exact)
    sampled = None
    if evaluation.sampled is not None:
        first, second = map(Rates.sampled, np.asarray(evaluation.sampled))
        sampled = Match(first=first, second=second)
    return Grade(
        env_id=config.env_id,
        seats=config.seats,
        first=seats.get("first"),
        second=seats.get("second"),
        sampled=sampled,
    )


def _seat_grades(results: SeatArrays) -> dict[Seat, SeatGrade]:
    rates, worst_loss_rate, worst_result = map(np.asarray, results)
    if not np.isfinite(rates).all():
        raise FloatingPointError("the network's action values are not finite")
    return {
        seat: SeatGrade(
            **vars(Rates.of(rates[place], evidence="construction")),
            worst_loss_rate=float(worst_loss_rate[place]),
            complete=True,
            beaten=bool(worst_result[place] == -1),
            wins_all=bool(worst_result[place] == 1),
        )
        for place, seat in enumerate(SEATS)
    }
