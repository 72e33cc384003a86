"""The best response to a policy. Results are float64.

Axes: `P` positions, `A` actions.
"""

import numpy as np
from jaxtyping import Float

from jax_ttt.games.tree import Seat, Tree
from jax_ttt.solver import minimax, policies
from jax_ttt.solver.backward import backward


def best_response(
    tree: Tree[np.ndarray], probs: Float[np.ndarray, "P A"], draw: float = 0.0
) -> Float[np.ndarray, "P A"]:
    """Return the policy of the opponent that gains most against `probs`.

    The opponent's win counts 1, its loss -1 and a draw `draw`; with `draw` -1 it wins
    as often as possible. Among equal moves it plays the first. Each row is the best
    response of the seat to move there.
    """
    drawn = tree.terminal & (tree.outcome == 0)

    def values_of(seat: Seat) -> np.ndarray:
        own, sign = tree.moves_of(seat), 1 if seat == "first" else -1

        def node_value(here: slice, after: np.ndarray) -> np.ndarray:
            worth = sign * after[..., 0]
            best = np.where(tree.legal_action_mask[here], worth, -np.inf).max(axis=1)
            mean = (probs[here] * after[..., 0]).sum(axis=1)
            return np.where(own[here], sign * best, mean)[:, None]

        leaves = np.where(drawn, sign * draw, tree.outcome)[:, None]
        return backward(tree, leaves, node_value)[:, 0]

    best = np.where(
        tree.first_to_move[:, None],
        minimax.best_moves(tree, values_of("first")),
        minimax.best_moves(tree, values_of("second")),
    )
    return policies.shared(minimax.first_marked(best))
