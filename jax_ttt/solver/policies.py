"""Policies of an enumerated game, and the passes over its tree that compute exact play.

A policy is a matrix `probs[P, A]` of move probabilities; a row is 0 if the game is
over. One backward pass gives every position a value: the minimax value, the value of
the best response to a policy, or the rates in `solver.outcomes` and `solver.proof`.

With JAX arrays, policies and passes are float32 and can be compiled. With NumPy arrays
they are float64; exact play is computed so.

Axes: `P` positions, `A` actions, `D` decisions (positions with a move to choose), `C`
values carried per position, `W` positions of a level.
"""

import itertools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from jax_ttt.config.game_facts import Seat
from jax_ttt.games.stone_boards import ArrayT, array_module
from jax_ttt.games.tree import Tree

QUICK = 0.9
"""Discount for each move, by which a quick win is better than a slow one."""


def uniform_policy(tree: Tree[ArrayT]) -> Float[ArrayT, "P A"]:
    """Return the policy that plays all legal moves with equal probability."""
    return share_equally(tree.legal_action_mask)


def share_equally(marked: ArrayT) -> Float[ArrayT, "P A"]:
    """Return the policy that plays the marked moves, `(P, A)` bool, equally often."""
    num_marked = marked.sum(axis=1, keepdims=True).clip(1)
    return array_module(marked).divide(marked, num_marked)


def mix_with_random(
    tree: Tree[ArrayT], chance: float, probs: Float[ArrayT, "P A"]
) -> Float[ArrayT, "P A"]:
    """Return the policy of a random move with probability `chance`, else `probs`."""
    return chance * uniform_policy(tree) + (1 - chance) * probs


def deterministic_policy(
    tree: Tree[ArrayT], action: Int[ArrayT, " D"]
) -> Float[ArrayT, "P A"]:
    """Return the policy that plays the given legal action in each decision."""
    if isinstance(action, np.ndarray):
        probs = np.zeros(tree.legal_action_mask.shape)
        probs[tree.decisions, action] = 1.0
        return probs
    played = jnp.zeros(tree.num_positions, jnp.int32).at[tree.decisions].set(action)
    one_hot = jax.nn.one_hot(played, tree.legal_action_mask.shape[1])
    return jnp.where(tree.legal_action_mask, one_hot, 0.0)


def backward(
    tree: Tree[ArrayT],
    end_values: Shaped[ArrayT, "P C"],
    node_value: Callable[[slice, ArrayT], ArrayT],
) -> Shaped[ArrayT, "P C"]:
    """Compute every position's values, from the last level of the tree to the first.

    A position where the game is over has its `end_values`. Any other one has what
    `node_value(here, after)` computes: `here` is the slice of a level's positions,
    `after` are the values of their successors, `(W, A, C)`, and the result is `(W, C)`.
    `node_value` must ignore illegal moves, whose rows of `after` have no meaning. All
    successors of a level are in the next one, so a level is one vectorized step.
    """
    xp = array_module(end_values)
    levels = list(itertools.pairwise(tree.level_start))
    values = [end_values[slice(*levels[-1])]]  # of the levels, the last one first
    for begin, end in reversed(levels[:-1]):
        here = slice(begin, end)
        # `values[-1]` has the level that begins at `end`. An illegal move's successor
        # is 0, so its row is below 0; clipped, it reads row 0, which is not used.
        after = xp.take(values[-1], tree.successor[here] - end, axis=0, mode="clip")
        is_over = tree.terminal[here, None]
        values.append(xp.where(is_over, end_values[here], node_value(here, after)))
    return xp.concatenate(values[::-1])


def exact_einsum(subscripts: str, *arrays: ArrayT) -> ArrayT:
    """Return the sum of products, with all bits of the arrays' dtype on every device.

    By default, a GPU or TPU may round the factors of float32 products to fewer bits
    (TF32, bfloat16), and a rate such as 1/7 would be wrong from the fourth digit on.
    """
    if isinstance(arrays[0], np.ndarray):
        return np.einsum(subscripts, *arrays)
    return jnp.einsum(subscripts, *arrays, precision="highest")


def minimax_values(
    tree: Tree[np.ndarray], discount: float = 1.0
) -> Float[np.ndarray, " P"]:
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


def values_to_mover(
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
    worth = values_to_mover(tree, position_values)
    return tree.legal_action_mask & (worth == worth.max(axis=1, keepdims=True))


def minimax_policy(
    tree: Tree[np.ndarray], discount: float = 1.0, first_best: bool = False
) -> Float[np.ndarray, "P A"]:
    """Return the policy that plays a random best move, or the first one."""
    best = best_moves(tree, minimax_values(tree, discount))
    return share_equally(first_marked(best) if first_best else best)


def optimal_moves(
    tree: Tree[np.ndarray], probs: Float[np.ndarray, "P A"]
) -> Float[np.ndarray, " P"]:
    """Return the probability of a best move in each position, 0 to 1."""
    return (probs * best_moves(tree, minimax_values(tree))).sum(axis=1)


def first_marked(marked: Bool[np.ndarray, "P A"]) -> Bool[np.ndarray, "P A"]:
    """Keep the first marked move of each position."""
    return marked & (marked.cumsum(axis=1) == 1)


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
        best_moves(tree, response_values("first")),
        best_moves(tree, response_values("second")),
    )
    return share_equally(first_marked(best))


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
