"""Minimax values and optimal moves of an enumerated game. NumPy, float64.

Axes: `P` positions, `A` actions.
"""

import numpy as np
from jaxtyping import Bool, Float

from jax_ttt.games.tree import Tree
from jax_ttt.solver import policies
from jax_ttt.solver.backward_pass import backward

QUICK = 0.9
"""Discount for each move, by which a quick win is better than a slow one."""


def values(tree: Tree[np.ndarray], discount: float = 1.0) -> Float[np.ndarray, " P"]:
    """Return the value of each position to the first player under best play, -1 to 1.

    A result that is n moves away counts `discount**n`. Below 1, a quick win is better
    than a slow one, and a slow loss is better than a quick one.
    """
    legal, first = tree.legal_action_mask, tree.first_to_move

    def node_value(here: slice, after: np.ndarray) -> np.ndarray:
        after = discount * after[..., 0]
        best = np.where(legal[here], after, -np.inf).max(axis=1)
        worst = np.where(legal[here], after, np.inf).min(axis=1)
        return np.where(first[here], best, worst)[:, None]

    return backward(tree, tree.outcome[:, None].astype(float), node_value)[:, 0]


def to_mover(
    tree: Tree[np.ndarray], position_values: Float[np.ndarray, " P"]
) -> Float[np.ndarray, "P A"]:
    """Return the value of each move to its mover; -inf if illegal."""
    sign = np.where(tree.first_to_move, 1, -1)[:, None]
    after = position_values[tree.successor]
    return np.where(tree.legal_action_mask, sign * after, -np.inf)


def best_moves(
    tree: Tree[np.ndarray], position_values: Float[np.ndarray, " P"]
) -> Bool[np.ndarray, "P A"]:
    """Return a mask of the moves with the highest value to their mover."""
    worth = to_mover(tree, position_values)
    return tree.legal_action_mask & (worth == worth.max(axis=1, keepdims=True))


def policy(
    tree: Tree[np.ndarray], discount: float = 1.0, first_best: bool = False
) -> Float[np.ndarray, "P A"]:
    """Return the policy that plays a random best move, or the first one."""
    best = best_moves(tree, values(tree, discount))
    return policies.share_equally(first_marked(best) if first_best else best)


def optimal_moves(
    tree: Tree[np.ndarray], probs: Float[np.ndarray, "P A"]
) -> Float[np.ndarray, " P"]:
    """Return the probability of a best move in each position, 0 to 1."""
    return (probs * best_moves(tree, values(tree))).sum(axis=1)


def first_marked(marked: Bool[np.ndarray, "P A"]) -> Bool[np.ndarray, "P A"]:
    """Keep the first marked move of each position."""
    return marked & (marked.cumsum(axis=1) == 1)
