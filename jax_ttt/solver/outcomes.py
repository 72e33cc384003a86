"""Exact results of policies over a game tree, without sampling.

A policy is a matrix `probs[P, A]` of move probabilities. Each result takes one backward
pass over the tree. With JAX arrays it is float32 and can be compiled. With a tree and
policies of NumPy arrays it is float64.

Axes: `P` positions, `A` actions, `C` values carried per position, `W` positions of
a level, `S` seats, `N` and `M` policies, 3 rates: of games won, drawn and lost.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from jax_ttt.config.game_facts import Seat
from jax_ttt.config.grade import Lines
from jax_ttt.games.stone_boards import ArrayT, array_module
from jax_ttt.games.tree import Tree
from jax_ttt.solver import policies, proof
from jax_ttt.solver.policies import backward, exact_einsum

SeatArrays = tuple[
    Float[Array, "S 3"] | Float[np.ndarray, "S 3"],
    Float[Array, " S"] | Float[np.ndarray, " S"],
    Float[Array, " S"] | Float[np.ndarray, " S"],
]
"""A policy's results by seat, the first player's first.

They are the rates against an opponent that plays at random; the loss rate against the
opponent that beats the policy most often; and the worst result in any line of play: 1
won, 0 drawn, -1 lost.
"""


def pairwise_outcomes(
    tree: Tree[ArrayT],
    first: Float[ArrayT, "N P A"],
    second: Float[ArrayT, "M P A"],
) -> Float[ArrayT, "N M 3"]:
    """Return the first player's exact rates against each second player.

    One pass computes all pairs.
    """
    xp = array_module(first)
    pairs = (len(first), len(second))

    def node_value(here: slice, after: ArrayT) -> ArrayT:
        after = after.reshape(*after.shape[:2], *pairs, 3)
        first_moves = tree.first_to_move[here, None, None, None]
        by_first = exact_einsum("nwa,wanmc->wnmc", first[:, here], after)
        by_second = exact_einsum("mwa,wanmc->wnmc", second[:, here], after)
        return xp.where(first_moves, by_first, by_second).reshape(len(after), -1)

    results = xp.stack([tree.outcome == result for result in (1, 0, -1)], axis=1)
    leaves = xp.tile(results.astype(first.dtype), (1, pairs[0] * pairs[1]))
    return xp.reshape(backward(tree, leaves, node_value)[0], (*pairs, 3))


def outcome(
    tree: Tree[ArrayT],
    first: Float[ArrayT, "P A"],
    second: Float[ArrayT, "P A"],
) -> Float[ArrayT, " 3"]:
    """Return the exact result of two policies, as the first player's rates."""
    only_pair = pairwise_outcomes(tree, first[None], second[None])
    return array_module(first).reshape(only_pair, (3,))


def seat_results(tree: Tree[jax.Array], probs: Float[Array, "P A"]) -> SeatArrays:
    """Return the policy's results in both seats, against random and in the worst case.

    One pass computes both seats. Each position has four values for each seat: the
    policy's rates of wins, draws and losses against random, and its worst loss rate,
    against the opponent that beats it most often. A small probability may round to 0
    there, so a worst loss rate of 0 proves nothing; `proof.worst_results` does.
    """
    is_own = jnp.stack([tree.first_to_move, ~tree.first_to_move], axis=1)  # (P, S)
    result = jnp.stack([tree.outcome, -tree.outcome], axis=1)
    legal = tree.legal_action_mask
    random = policies.uniform_policy(tree)
    chances = jnp.where(is_own[:, None], probs[..., None], random[..., None])

    def node_value(here: slice, after: jax.Array) -> jax.Array:
        after = after.reshape(*after.shape[:2], 2, 4)
        mean = exact_einsum("was,wasc->wsc", chances[here], after)
        worst = jnp.where(legal[here, :, None], after[..., 3], 0.0).max(axis=1)
        worst = jnp.where(is_own[here], mean[..., 3], worst)
        return jnp.concatenate([mean[..., :3], worst[..., None]], axis=-1).reshape(
            -1, 8
        )

    leaves = jnp.stack([result == 1, result == 0, result == -1, result == -1], axis=-1)
    values = backward(tree, leaves.reshape(-1, 8).astype(jnp.float32), node_value)
    rates = values[0].reshape(2, 4)
    return rates[:, :3], rates[:, 3], proof.worst_results(tree, probs)


def count_lines(
    tree: Tree[np.ndarray], probs: Float[np.ndarray, "P A"], seat: Seat
) -> Lines:
    """Count the lines of play of the policy in this seat against any opponent.

    A line is a whole game; a position's number is the sum over its playable moves.
    """
    moves = proof.playable(tree, probs, seat)
    result = tree.outcome if seat == "first" else -tree.outcome
    leaves = np.stack([result == end for end in (1, 0, -1)], axis=1).astype(float)
    counts = backward(
        tree, leaves, lambda here, after: (moves[here][..., None] * after).sum(axis=1)
    )
    won, drawn, lost = (int(count) for count in counts[0])
    return Lines(won=won, drawn=drawn, lost=lost)
