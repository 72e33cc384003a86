"""The backward pass over a game tree, which computes all exact results.

With JAX arrays it uses float32 and can be compiled. With NumPy arrays it uses float64.

Axes: `P` positions, `A` actions, `C` values carried per position, `W` positions of a
level.
"""

import itertools
from collections.abc import Callable

from jaxtyping import Shaped

from jax_ttt.games.symmetry import ArrayT
from jax_ttt.games.tree import Tree, array_module


def backward(
    tree: Tree[ArrayT],
    leaf_values: Shaped[ArrayT, "P C"],
    node_value: Callable[[slice, ArrayT], ArrayT],
) -> Shaped[ArrayT, "P C"]:
    """Compute every position's values, from the last level of the tree to the first.

    A position where the game is over has its `leaf_values`. Any other one has what
    `node_value(here, after)` computes: `here` is the slice of a level's positions,
    `after` are the values of their successors, `(W, A, C)`, and the result is `(W, C)`.
    All successors of a level are in the next one, so a level is one vectorized step.
    """
    xp = array_module(leaf_values)
    levels = list(itertools.pairwise(tree.level_start))
    values = [leaf_values[slice(*levels[-1])]]  # of the levels, the last one first
    for begin, end in reversed(levels[:-1]):
        here = slice(begin, end)
        # Illegal moves have no successor; clipped, they read a row that is not used.
        after = xp.take(values[-1], tree.successor[here] - end, axis=0, mode="clip")
        is_over = tree.terminal[here, None]
        values.append(xp.where(is_over, leaf_values[here], node_value(here, after)))
    return xp.concatenate(values[::-1])
