"""Best play over an enumerated game, and how far a policy is from it. NumPy, float64.

Every `tree` here is of NumPy arrays, as `tree.host_tree` gives it.

Axes: `P` positions, `A` actions.
"""

import numpy as np
from jaxtyping import Bool, Float

from jax_ttt.envs.tree import Tree
from jax_ttt.solver import policies
from jax_ttt.solver.backward import backward


def values(tree: Tree, discount: float = 1.0) -> Float[np.ndarray, " P"]:
    """Return what each position is worth to the first player under best play.

    -1 to 1; below 1, `discount` makes a result worth less with each move before it, so
    that a quick win is better than a slow one, and a slow loss than a quick one.
    """
    legal, first = tree.legal_action_mask, tree.first_to_move

    def node_value(here: slice, after: np.ndarray) -> np.ndarray:
        after = discount * after[..., 0]
        best = np.where(legal[here], after, -np.inf).max(axis=1)
        worst = np.where(legal[here], after, np.inf).min(axis=1)
        return np.where(first[here], best, worst)[:, None]

    return backward(tree, tree.outcome[:, None].astype(float), node_value)[:, 0]


def to_mover(
    tree: Tree, position_values: Float[np.ndarray, " P"]
) -> Float[np.ndarray, "P A"]:
    """Return what each move is worth to its mover; -inf where illegal."""
    sign = np.where(tree.first_to_move, 1, -1)[:, None]
    after = position_values[tree.successor]
    return np.where(tree.legal_action_mask, sign * after, -np.inf)


def best_moves(
    tree: Tree, position_values: Float[np.ndarray, " P"]
) -> Bool[np.ndarray, "P A"]:
    """Return which moves are worth most to their mover."""
    worth = to_mover(tree, position_values)
    return tree.legal_action_mask & (worth == worth.max(axis=1, keepdims=True))


def policy(
    tree: Tree, discount: float = 1.0, first_best: bool = False
) -> Float[np.ndarray, "P A"]:
    """Return the player of the best moves: one of them at random, or the first."""
    best = best_moves(tree, values(tree, discount))
    return policies.shared(first_marked(best) if first_best else best)


def optimal_moves(
    tree: Tree, probs: Float[np.ndarray, "P A"]
) -> Float[np.ndarray, " P"]:
    """Return how often the policy plays a best move in each position, 0 to 1."""
    return (probs * best_moves(tree, values(tree))).sum(axis=1)


def first_marked(marked: Bool[np.ndarray, "P A"]) -> Bool[np.ndarray, "P A"]:
    """Keep the first marked move of each position."""
    return marked & (marked.cumsum(axis=1) == 1)
