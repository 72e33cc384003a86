"""How strong an agent is: exactly where the tree can be walked, by sample elsewhere."""

from typing import Any, NamedTuple

import jax
import numpy as np
from flax import nnx
from jaxtyping import Array, Key

from jax_ttt.config.choices import LEARNED, RATES, SEATS_OF
from jax_ttt.envs import pgx_games
from jax_ttt.envs.tree import Tree
from jax_ttt.evaluation import matches
from jax_ttt.players import players
from jax_ttt.players.network import Network, greedy_player, policy
from jax_ttt.solver import outcomes, proof


class Evaluation(NamedTuple):
    """An agent's results; a part is None where it was not asked for or can't be had."""

    exact: outcomes.Report | None
    unbeatable: jax.Array | None  # () bool, in the seats that it learned
    sampled: matches.Match | None  # against random


@jax.jit
def evaluate(
    network: Network, params: nnx.State, key: Key[Array, ""], tree: Tree | None
) -> Evaluation:
    """Grade the greedy player of `params`, exactly if a tree is given.

    `key`, for the sampled match, is consumed.
    """
    config = network.config
    report = unbeatable = None
    if tree is not None:
        probs = policy(network, params, tree)
        report = outcomes.report(tree, probs)
        unbeatable = proof.unbeatable(tree, probs, SEATS_OF[config.seat])
    if not config.eval_games:
        return Evaluation(report, unbeatable, None)
    env = pgx_games.make(config.env_id)
    player = greedy_player(network, params)
    args = (player, players.random_player, config.eval_games)
    return Evaluation(report, unbeatable, matches.play_match(env, key, *args))


def summary(evaluation: Evaluation) -> dict[str, Any]:
    """Return an evaluation as plain numbers; rates are fractions, 0 to 1.

    Raises:
        FloatingPointError: an action value is not finite.
    """
    row: dict[str, Any] = {}
    if (report := evaluation.exact) is not None:
        if not np.isfinite(report.first.random.win_rate):
            raise FloatingPointError("the network's action values are not finite")
        pairs = zip(LEARNED["both"], report, strict=True)
        seats = {name: _exact_row(seat) for name, seat in pairs}
        row["exact"] = {
            **seats,
            "unbeatable": bool(evaluation.unbeatable),
            **{r: sum(seat[r] for seat in seats.values()) / 2 for r in RATES},
        }
    if evaluation.sampled is not None:
        row["sampled"] = matches.sampled_rates(evaluation.sampled)
    return row


def _exact_row(seat: outcomes.Seat) -> dict[str, float]:
    rates = {name: float(rate) for name, rate in seat.random._asdict().items()}
    return rates | {"worst_loss_rate": float(seat.worst_loss_rate)}
