"""Pytrees as arrays by name, for files: `params.layers.layers.0.kernel`."""

from collections.abc import Mapping
from typing import TypeAlias, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

PyTreeT = TypeVar("PyTreeT")
Leaf: TypeAlias = jax.Array | np.ndarray
"""An array, or only its shape and dtype, `jax.ShapeDtypeStruct`."""


def leaves_by_name(tree: object) -> dict[str, Leaf]:
    """Return the leaves of a pytree by their paths; keys of JAX as uint32 data.

    Raises:
        ValueError: two leaves have the same name.
    """
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    named = {_name(path): _without_type(leaf) for path, leaf in leaves}
    if len(named) < len(leaves):
        raise ValueError("two leaves have the same name")
    return named


def with_leaves(like: PyTreeT, named: Mapping[str, Leaf]) -> PyTreeT:
    """Return a pytree like another one, which may hold only shapes, of these leaves.

    Raises:
        KeyError: a leaf is missing.
    """
    paths = jax.tree_util.tree_leaves_with_path(like)
    leaves = [_with_type(named[_name(path)], shape) for path, shape in paths]
    return jax.tree.unflatten(jax.tree.structure(like), leaves)


def _name(path: tuple) -> str:
    name = jax.tree_util.keystr(path, simple=True, separator=".")
    return name.removesuffix(".value")  # of a Flax variable


def _is_key(leaf: Leaf) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _without_type(leaf: Leaf) -> Leaf:
    if not _is_key(leaf):
        return leaf
    if isinstance(leaf, jax.ShapeDtypeStruct):
        return jax.eval_shape(jax.random.key_data, leaf)
    return jax.random.key_data(jnp.asarray(leaf))


def _with_type(leaf: Leaf, like: Leaf) -> Leaf:
    return jax.random.wrap_key_data(jnp.asarray(leaf)) if _is_key(like) else leaf
