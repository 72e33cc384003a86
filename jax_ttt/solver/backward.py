"""The pass over a game's tree that every exact result is: last level to first.

With JAX arrays it is float32 and may be compiled; with NumPy arrays, float64.

Axes: `P` positions, `A` actions, `C` values carried per position, `W` positions of a
level.
"""

import itertools
from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Shaped

from jax_ttt.envs.tree import AnyArray, Tree

NodeValue = Callable[[slice, AnyArray], AnyArray]
"""A level's values `(W, C)` from its positions and their successors' `(W, A, C)`."""


def backward(
    tree: Tree, leaf_values: Shaped[AnyArray, "P C"], node_value: NodeValue
) -> Shaped[AnyArray, "P C"]:
    """Return every position's value, from the last level of the tree to the first."""
    xp = np if isinstance(leaf_values, np.ndarray) else jnp
    levels = list(itertools.pairwise(tree.level_start))
    values = [leaf_values[slice(*levels[-1])]]
    for begin, end in reversed(levels[:-1]):
        here = slice(begin, end)
        # Where the game is over there is no successor: any row will do.
        successor = (tree.successor[here] - end).clip(0)
        inner = node_value(here, values[-1][successor])
        over = tree.terminal[here, None]
        values.append(xp.where(over, leaf_values[here], inner))
    return xp.concatenate(values[::-1])
