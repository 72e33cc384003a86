"""Policies of an enumerated game: matrices `probs[P, A]` of move probabilities.

A row is 0 if the game is over. The arrays belong to the tree's library, JAX or NumPy.

Axes: `P` positions, `A` actions, `D` decisions (positions with a move to choose).
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from jax_ttt.games.symmetry import ArrayT
from jax_ttt.games.tree import Tree, array_module


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
