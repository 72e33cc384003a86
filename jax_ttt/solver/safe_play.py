"""The ceiling: the most wins of a player who never loses. NumPy, float64.

Every `tree` here is of NumPy arrays, as `tree.host_tree` gives it.

Axes: `A` actions, `W` positions of a level.
"""

import numpy as np

from jax_ttt.envs.tree import Seat, Tree
from jax_ttt.solver.backward import backward


def most_wins(tree: Tree, seat: Seat) -> float:
    """Return how often a player in `seat` who never loses can win against random.

    0 to 1; -inf if every player in this seat can be beaten.
    """
    first = seat == "first"
    result = tree.outcome if first else -tree.outcome
    own = tree.first_to_move == first
    # A loss is worth -inf, so that no chance of wins makes up for a risk of one.
    leaves = np.where(result < 0, -np.inf, result == 1)[:, None]

    def node_value(here: slice, after: np.ndarray) -> np.ndarray:
        after, legal = after[..., 0], tree.legal_action_mask[here]
        best = np.where(legal, after, -np.inf).max(axis=1)
        num_legal = np.maximum(legal.sum(axis=1), 1)  # none where the game is over
        mean = np.where(legal, after, 0).sum(axis=1) / num_legal
        return np.where(own[here], best, mean)[:, None]

    return float(backward(tree, leaves, node_value)[0, 0])
