"""The best response to a policy. NumPy, float64.

Axes: `P` positions, `A` actions.
"""

import numpy as np
from jaxtyping import Float

from jax_ttt.config.game_facts import Seat
from jax_ttt.games.tree import Tree
from jax_ttt.solver import minimax, policies
from jax_ttt.solver.backward_pass import backward


def best_response(
    tree: Tree[np.ndarray], probs: Float[np.ndarray, "P A"], draw: float = 0.0
) -> Float[np.ndarray, "P A"]:
    """Return the policy of the opponent that gains most against `probs`.

    The opponent's win counts 1, its loss -1 and a draw `draw`; with `draw` -1 it wins
    as often as possible. Among equal moves it plays the first. Each row is the best
    response of the seat to move there.
    """
    is_draw = tree.terminal & (tree.outcome == 0)

    def response_values(seat: Seat) -> np.ndarray:
        """Return each position's value, to the first player, if this seat responds."""
        responds = tree.turns_of(seat)
        sign = 1 if seat == "first" else -1

        def node_value(here: slice, after: np.ndarray) -> np.ndarray:
            to_mover = sign * after[..., 0]
            legal = tree.legal_action_mask[here]
            best = np.where(legal, to_mover, -np.inf).max(axis=1)
            mean = (probs[here] * after[..., 0]).sum(axis=1)
            return np.where(responds[here], sign * best, mean)[:, None]

        leaves = np.where(is_draw, sign * draw, tree.outcome)[:, None]
        return backward(tree, leaves, node_value)[:, 0]

    best = np.where(
        tree.first_to_move[:, None],
        minimax.best_moves(tree, response_values("first")),
        minimax.best_moves(tree, response_values("second")),
    )
    return policies.share_equally(minimax.first_marked(best))
