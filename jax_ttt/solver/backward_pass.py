"""The backward pass over a game tree, which computes all exact results.

With JAX arrays it uses float32 and can be compiled. With NumPy arrays it uses float64.

Axes: `P` positions, `A` actions, `C` values carried per position, `W` positions of a
level.
"""

import itertools
from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Shaped

from jax_ttt.games.symmetry import ArrayT
from jax_ttt.games.tree import Tree, array_module


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
