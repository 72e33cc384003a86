"""Pytrees as flat dictionaries of arrays, by path: `params.layers.layers.0.kernel`.

A flat dictionary can be read, passed on and stored without a library's classes.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import DTypeLike

Named: TypeAlias = dict[str, Any]
"""Arrays by path. A PRNG key is stored as its data: uint32, with one more axis."""

_ROWS = ".rows"


def flat(tree: Any) -> Named:  # noqa: ANN401
    """Return the leaves of a pytree by path.

    Raises:
        ValueError: two leaves have the same path.
    """
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    named = {_name(path): _plain(leaf) for path, leaf in leaves}
    if len(named) < len(leaves):
        raise ValueError("two leaves have the same path")
    return named


def unflat(named: Named, structure: Any) -> Any:  # noqa: ANN401
    """Return a pytree of these leaves, like `structure`, which may hold only shapes.

    Raises:
        KeyError: a leaf is missing.
    """
    paths = jax.tree_util.tree_leaves_with_path(structure)
    leaves = [_typed(named[_name(path)], like) for path, like in paths]
    return jax.tree.unflatten(jax.tree.structure(structure), leaves)


def part(named: Named, name: str) -> Named:
    """Return the leaves below a name, without that name in their paths."""
    begin = f"{name}."
    return {k.removeprefix(begin): v for k, v in named.items() if k.startswith(begin)}


def stacked(several: Sequence[Named], blank: np.generic) -> Named:
    """Return NumPy arrays of the same names and shapes, stacked to `(N, rows, ...)`.

    Rows that are `blank` in all of them are left out. If an array has such rows,
    `<name>.rows` is a mask of those that are there.
    """
    found: Named = {}
    for name in several[0]:
        every = np.stack([named[name] for named in several])
        rows = (every != blank).reshape(*every.shape[:2], -1).any(axis=(0, 2))
        found[name] = np.ascontiguousarray(every[:, rows])
        if not rows.all():
            found[name + _ROWS] = rows
    return found


def one_of_stack(stack: Named, place: int, blank: np.generic) -> Named:
    """Return the arrays that were the item `place` of those that were stacked."""
    found: Named = {}
    for name in stack:
        if name.endswith(_ROWS):
            continue
        found[name] = stack[name][place]
        if (rows := stack.get(name + _ROWS)) is not None:
            whole = np.full((len(rows), *found[name].shape[1:]), blank)
            whole[rows] = found[name]
            found[name] = whole
    return found


def item_shapes(
    stack: Named, dtype: DTypeLike, number: int
) -> dict[str, tuple[int, ...]] | None:
    """Return the shapes of an item of a stack, with all its rows.

    Only the dtypes and shapes are read. None if arrays of these can't be the result of
    `stacked`, of `number` items of this dtype.
    """
    masks = {name: leaf for name, leaf in stack.items() if name.endswith(_ROWS)}
    if any(leaf.dtype != bool or len(leaf.shape) != 1 for leaf in masks.values()):
        return None
    found: dict[str, tuple[int, ...]] = {}
    for name in stack.keys() - masks.keys():
        leaf = stack[name]
        if leaf.dtype != dtype or len(leaf.shape) < 2 or leaf.shape[0] != number:
            return None
        mask = masks.pop(name + _ROWS, None)
        rows = leaf.shape[1] if mask is None else mask.shape[0]
        if rows < leaf.shape[1]:
            return None
        found[name] = rows, *leaf.shape[2:]
    return None if masks else found


def has_its_rows(stack: Named) -> bool:
    """Return whether the masks of a stack, whose shapes fit, mark as many rows."""
    return all(
        np.count_nonzero(mask) == stack[name.removesuffix(_ROWS)].shape[1]
        for name, mask in stack.items()
        if name.endswith(_ROWS)
    )


def _name(path: tuple[Any, ...]) -> str:
    parts = [
        str(getattr(key, "key", getattr(key, "idx", getattr(key, "name", key))))
        for key in path
    ]
    if len(parts) > 1 and parts[-1] == "value":  # a Flax variable
        parts.pop()
    return ".".join(parts)


def _is_key(leaf: Any) -> bool:  # noqa: ANN401
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _plain(leaf: Any) -> Any:  # noqa: ANN401
    return jax.random.key_data(leaf) if _is_key(leaf) else leaf


def _typed(leaf: Any, like: Any) -> Any:  # noqa: ANN401
    return jax.random.wrap_key_data(leaf) if _is_key(like) else leaf
