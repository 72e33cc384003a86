"""How strong an agent is: exactly where the tree can be walked, by sample elsewhere."""

import functools
from typing import NamedTuple

import jax
from flax import nnx
from jaxtyping import Array, Float, Key

from jax_ttt import dqn, exact, games, matches, networks, players
from jax_ttt.config import Config
from jax_ttt.tree import Tree


class Evaluation(NamedTuple):
    """An agent's results; a part is None where it was not asked for or can't be had."""

    exact: exact.Report | None
    sampled: matches.Match | None  # against random


@functools.partial(jax.jit, static_argnames="config")
def evaluate(
    config: Config, params: nnx.State, key: Key[Array, ""], tree: Tree | None
) -> Evaluation:
    """Grade the greedy player of `params`, exactly if a tree is given.

    `key`, for the sampled match, is consumed.
    """
    report = exact.report(tree, policy(config, params, tree)) if tree else None
    if not config.eval_games:
        return Evaluation(report, None)
    env = games.make(config.env_id)
    player = players.greedy_player(config, params)
    args = (player, players.random_player, config.eval_games)
    return Evaluation(report, matches.play_match(env, key, *args))


def policy(config: Config, params: nnx.State, tree: Tree) -> Float[Array, "P A"]:
    """Return the greedy player of `params` as a policy over the tree."""
    q_values = decision_values(config, params, tree)
    legal = tree.legal_action_mask[tree.decisions]
    return exact.deterministic_policy(tree, dqn.greedy(q_values, legal))


def decision_values(
    config: Config, params: nnx.State, tree: Tree
) -> Float[Array, "D A"]:
    """Return the action values in each of the tree's positions to decide."""
    return networks.q_values(config, params, tree.obs[tree.decisions])
