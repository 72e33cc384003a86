"""Policies of an enumerated game: matrices `probs[P, A]`, the chances of the moves.

Where the game is over a row is 0. The arrays are of the tree's library: JAX, or NumPy
for a tree of NumPy arrays.

Axes: `P` positions, `A` actions, `D` positions to decide.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from jax_ttt.envs.tree import AnyArray, Tree


def uniform(tree: Tree) -> Float[AnyArray, "P A"]:
    """Return the player who plays every legal move with the same chance."""
    return shared(tree.legal_action_mask)


def shared(marked: AnyArray) -> Float[AnyArray, "P A"]:
    """Return the player of each of the marked moves, `(P, A)`, with the same chance."""
    return marked / marked.sum(axis=1, keepdims=True).clip(1)


def deterministic(tree: Tree, action: Int[AnyArray, " D"]) -> Float[AnyArray, "P A"]:
    """Return the player of one legal action in each of the positions to decide."""
    if isinstance(action, np.ndarray):
        probs = np.zeros(tree.legal_action_mask.shape)
        probs[tree.decisions, action] = 1.0
        return probs
    played = jnp.zeros(tree.num_positions, jnp.int32).at[tree.decisions].set(action)
    one_hot = jax.nn.one_hot(played, tree.legal_action_mask.shape[1])
    return jnp.where(tree.legal_action_mask, one_hot, 0.0)
