"""The highest win rate against random of a player that never loses. NumPy, float64.

Axes: `A` actions, `W` positions of a level.
"""

import numpy as np

from jax_ttt.config.game_facts import Seat
from jax_ttt.games.tree import Tree
from jax_ttt.solver.backward_pass import backward


def most_wins(tree: Tree[np.ndarray], seat: Seat) -> float:
    """Return the highest win rate against random of a player that never loses, 0 to 1.

    The player is in `seat`. The result is -inf if every such player can be beaten.
    """
    result = tree.outcome if seat == "first" else -tree.outcome
    is_own = tree.turns_of(seat)
    # A loss counts -inf, so that no number of wins outweighs the risk of a loss.
    leaves = np.where(result < 0, -np.inf, result == 1)[:, None]

    def node_value(here: slice, after: np.ndarray) -> np.ndarray:
        after, legal = after[..., 0], tree.legal_action_mask[here]
        best = np.where(legal, after, -np.inf).max(axis=1)
        num_legal = np.maximum(legal.sum(axis=1), 1)  # no moves: game over
        mean = np.where(legal, after, 0).sum(axis=1) / num_legal
        return np.where(is_own[here], best, mean)[:, None]

    return float(backward(tree, leaves, node_value)[0, 0])
