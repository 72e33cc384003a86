"""How strong an agent is: exactly where the tree can be walked, by sample elsewhere."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jaxtyping import Array, Float, Key

from jax_ttt.config.settings import LEARNED, RATES, SEATS_OF, Config
from jax_ttt.dqn import equations
from jax_ttt.envs import pgx_games, symmetry
from jax_ttt.envs.tree import Tree
from jax_ttt.evaluation import grades, matches
from jax_ttt.networks import q_network
from jax_ttt.players import players
from jax_ttt.solver import outcomes, policies, proof


class Evaluation(NamedTuple):
    """An agent's results; a part is None where it was not asked for or can't be had."""

    exact: outcomes.Report | None
    unbeatable: jax.Array | None  # () bool, in the seats that it learned
    sampled: matches.Match | None  # against random


@functools.partial(jax.jit, static_argnames="config")
def evaluate(
    config: Config, params: nnx.State, key: Key[Array, ""], tree: Tree | None
) -> Evaluation:
    """Grade the greedy player of `params`, exactly if a tree is given.

    `key`, for the sampled match, is consumed.
    """
    report = unbeatable = None
    if tree is not None:
        probs = policy(config, params, tree)
        report = outcomes.report(tree, probs)
        unbeatable = proof.unbeatable(tree, probs, SEATS_OF[config.seat])
    if not config.eval_games:
        return Evaluation(report, unbeatable, None)
    env = pgx_games.make(config.env_id)
    player = players.greedy_player(config, params)
    args = (player, players.random_player, config.eval_games)
    return Evaluation(report, unbeatable, matches.play_match(env, key, *args))


@functools.partial(jax.jit, static_argnames="config")
def policy(config: Config, params: nnx.State, tree: Tree) -> Float[Array, "P A"]:
    """Return the greedy player of `params` as a policy over the tree.

    It is NaN throughout where any action value is not finite.
    """
    q_values = decision_values(config, params, tree)
    legal = tree.legal_action_mask[tree.decisions]
    probs = policies.deterministic(tree, equations.greedy(q_values, legal))
    return jnp.where(jnp.isfinite(q_values).all(), probs, jnp.nan)


@functools.partial(jax.jit, static_argnames="config")
def decision_values(
    config: Config, params: nnx.State, tree: Tree
) -> Float[Array, "D A"]:
    """Return the action values in each of the tree's positions to decide.

    Where boards are canonical, those of one board of each symmetry class tell the rest:
    627 for 4,520, which halves the time of an exact evaluation.
    """
    if not config.canonical:
        return q_network.q_values(config, params, tree.obs[tree.decisions])
    boards, row, cells = symmetry.classes(config.env_id)
    values = q_network.q_values(config, params, tree.obs[boards])
    return jnp.take_along_axis(values[row], cells, axis=1)


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
        row["sampled"] = grades.sampled(evaluation.sampled)
    return row


def _exact_row(seat: outcomes.Seat) -> dict[str, float]:
    rates = {name: float(rate) for name, rate in seat.random._asdict().items()}
    return rates | {"worst_loss_rate": float(seat.worst_loss_rate)}
