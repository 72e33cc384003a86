"""Best play over a walked game, and how far a policy is from it. NumPy, float64.

Every `tree` here is of NumPy arrays, as `tree.on_host` gives it.

Axes: `P` positions, `A` actions.
"""

import numpy as np
from jaxtyping import Bool, Float

from jax_ttt.envs.tree import Tree
from jax_ttt.solver import outcomes, policies
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
    return policies.shared(_first(best) if first_best else best)


def best_response(
    tree: Tree, probs: Float[np.ndarray, "P A"], draw: float = 0.0
) -> Float[np.ndarray, "P A"]:
    """Return the opponent who gains most against `probs`, the first move of equals.

    A win is worth 1 to it, a loss -1 and a draw `draw`: with -1, it wins most often.
    Each row holds for the seat that is to move there.
    """
    drawn = tree.terminal & (tree.outcome == 0)
    first = tree.first_to_move

    def values_as(as_first: bool) -> np.ndarray:
        def node_value(here: slice, after: np.ndarray) -> np.ndarray:
            worth = sign * after[..., 0]
            best = np.where(tree.legal_action_mask[here], worth, -np.inf).max(axis=1)
            mean = (probs[here] * after[..., 0]).sum(axis=1)
            return np.where(first[here] == as_first, sign * best, mean)[:, None]

        sign = 1 if as_first else -1
        leaves = np.where(drawn, sign * draw, tree.outcome)[:, None]
        return backward(tree, leaves, node_value)[:, 0]

    best = np.where(
        first[:, None],
        best_moves(tree, values_as(True)),
        best_moves(tree, values_as(False)),
    )
    return policies.shared(_first(best))


def exploitability(tree: Tree, probs: Float[np.ndarray, "P A"]) -> float:
    """Return what a best response gains on average over both seats: 0 to 1.

    Gains are wins less losses. 0 where the value of the game is a draw and no opponent
    can do better than that. Source: Lanctot et al. 2017, NashConv over players.
    """
    best = best_response(tree, probs)
    seats = outcomes.outcome(tree, probs, best), outcomes.outcome(tree, best, probs)
    as_first, as_second = (float(x.win_rate - x.loss_rate) for x in seats)
    return (as_second - as_first) / 2


def optimal_moves(
    tree: Tree, probs: Float[np.ndarray, "P A"]
) -> Float[np.ndarray, " P"]:
    """Return how often the policy plays a best move in each position, 0 to 1."""
    return (probs * best_moves(tree, values(tree))).sum(axis=1)


def _first(marked: Bool[np.ndarray, "P A"]) -> Bool[np.ndarray, "P A"]:
    """Keep the first marked move of each position."""
    return marked & (marked.cumsum(axis=1) == 1)
