"""Exact results over a game's tree: no sampling, no error bar.

A policy is a matrix `probs[P, A]`, each row the chances of the legal moves. Every
result is one pass from the last level of the tree to the first. With JAX arrays it is
float32 and may be compiled; with a tree and policies of NumPy arrays, float64.

Axes: `P` positions, `A` actions, `C` values carried per position, `W` positions of
a level, `S` seats, `N` and `M` policies.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from jax_ttt.envs.tree import AnyArray, Tree
from jax_ttt.solver import policies
from jax_ttt.solver.backward import backward


class Outcome(NamedTuple):
    """Chances of one player's results; they add up to 1."""

    win_rate: AnyArray
    draw_rate: AnyArray
    loss_rate: AnyArray


class SeatResults(NamedTuple):
    """How a policy fares in one seat."""

    random: Outcome  # against an opponent who plays at random
    worst_loss_rate: jax.Array  # against the opponent who beats it most often


class Report(NamedTuple):
    """How a policy fares in both seats."""

    first: SeatResults
    second: SeatResults


def pairwise_outcomes(
    tree: Tree,
    first: Float[AnyArray, "N P A"],
    second: Float[AnyArray, "M P A"],
) -> Outcome:
    """Return the exact results `(N, M)` of each first player against each second.

    They are the first player's, from one pass for all pairs.
    """
    xp = np if isinstance(first, np.ndarray) else jnp
    pairs = (len(first), len(second))

    def node_value(here: slice, after: AnyArray) -> AnyArray:
        after = after.reshape(*after.shape[:2], *pairs, 3)
        moved = tree.first_to_move[here, None, None, None]
        by_first = xp.einsum("nwa,wanmc->wnmc", first[:, here], after)
        by_second = xp.einsum("mwa,wanmc->wnmc", second[:, here], after)
        return xp.where(moved, by_first, by_second).reshape(len(after), -1)

    results = xp.stack([tree.outcome == result for result in (1, 0, -1)], axis=1)
    leaves = xp.tile(results.astype(first.dtype), (1, pairs[0] * pairs[1]))
    values = backward(tree, leaves, node_value)[0].reshape(*pairs, 3)
    return Outcome(*(values[..., result] for result in range(3)))


def outcome(
    tree: Tree,
    first: Float[AnyArray, "P A"],
    second: Float[AnyArray, "P A"],
) -> Outcome:
    """Return the exact result of two policies, from the first player's view."""
    table = pairwise_outcomes(tree, first[None], second[None])
    return Outcome(*(rate[0, 0] for rate in table))


def report(tree: Tree, probs: Float[Array, "P A"]) -> Report:
    """Return the policy's results in both seats, against random and the worst case.

    One pass for both seats (S): each position carries the chances that the policy
    wins, draws and loses to a random opponent, and how often it loses to the opponent
    who beats it most often. Of a deterministic policy that last is 0 exactly when no
    line of play wins; a rare chance may round to 0, see `proof.unbeatable`.
    """
    own = jnp.stack([tree.first_to_move, ~tree.first_to_move], axis=1)  # (P, S)
    result = jnp.stack([tree.outcome, -tree.outcome], axis=1)
    legal = tree.legal_action_mask
    random = policies.uniform(tree)
    chances = jnp.where(own[:, None], probs[..., None], random[..., None])

    def node_value(here: slice, after: jax.Array) -> jax.Array:
        after = after.reshape(*after.shape[:2], 2, 4)
        mean = jnp.einsum("was,wasc->wsc", chances[here], after)
        worst = jnp.where(legal[here, :, None], after[..., 3], 0.0).max(axis=1)
        worst = jnp.where(own[here], mean[..., 3], worst)
        return jnp.concatenate([mean[..., :3], worst[..., None]], axis=-1).reshape(
            -1, 8
        )

    leaves = jnp.stack([result == 1, result == 0, result == -1, result == -1], axis=-1)
    values = backward(tree, leaves.reshape(-1, 8).astype(jnp.float32), node_value)
    seats = (
        SeatResults(Outcome(*seat[:3]), seat[3]) for seat in values[0].reshape(2, 4)
    )
    return Report(*seats)
