"""The backward pass over a game tree, which computes every exact result.

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

    `node_value` is a function from a level's positions and their successors' values
    `(W, A, C)` to the level's values `(W, C)`.
    """
    xp = array_module(leaf_values)
    levels = list(itertools.pairwise(tree.level_start))
    values = [leaf_values[slice(*levels[-1])]]
    for begin, end in reversed(levels[:-1]):
        here = slice(begin, end)
        # A finished game has no successor; the row read for it is not used.
        after = xp.take(values[-1], tree.successor[here] - end, axis=0, mode="clip")
        inner = node_value(here, after)
        over = tree.terminal[here, None]
        values.append(xp.where(over, leaf_values[here], inner))
    return xp.concatenate(values[::-1])
