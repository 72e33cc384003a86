"""Pytrees as dictionaries of arrays by name, for files.

A name is the path of a leaf, for instance `params.layers.layers.0.kernel`.
"""

from collections.abc import Mapping
from typing import TypeAlias, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

PyTreeT = TypeVar("PyTreeT")
Leaf: TypeAlias = jax.Array | np.ndarray
"""An array, or only its shape and dtype, `jax.ShapeDtypeStruct`."""


def leaves_by_name(tree: object) -> dict[str, Leaf]:
    """Return the leaves of a pytree by their names.

    Files have no type for keys of JAX, so that these become their uint32 data.

    Raises:
        ValueError: two leaves have the same name.
    """
    paths = jax.tree_util.tree_leaves_with_path(tree)
    leaves = {_name(path): _key_data(leaf) for path, leaf in paths}
    if len(leaves) < len(paths):
        raise ValueError("two leaves have the same name")
    return leaves


def with_leaves(like: PyTreeT, leaves: Mapping[str, Leaf]) -> PyTreeT:
    """Return a pytree of the structure of `like` with these leaves.

    The leaves of `like` may be shapes; they say which leaves are keys of JAX.

    Raises:
        ValueError: a leaf is missing, has another dtype or shape, or is not of `like`.
    """
    expected = leaves_by_name(like)
    for name in sorted(expected.keys() | leaves.keys()):
        if name not in leaves:
            raise ValueError(f"{name} is missing")
        if name not in expected:
            raise ValueError(f"it has no {name}")
        old, new = expected[name], leaves[name]
        if (old.dtype, old.shape) != (new.dtype, new.shape):
            rule = f"not {old.dtype} {old.shape}"
            raise ValueError(f"{name} is {new.dtype} {new.shape}, {rule}")
    paths = jax.tree_util.tree_leaves_with_path(like)
    ordered = [_as_key(leaves[_name(path)], like=leaf) for path, leaf in paths]
    return jax.tree.unflatten(jax.tree.structure(like), ordered)


def _name(path: tuple) -> str:
    name = jax.tree_util.keystr(path, simple=True, separator=".")
    return name.removesuffix(".value")  # which a Flax variable adds


def _is_key(leaf: Leaf) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _key_data(leaf: Leaf) -> Leaf:
    """Return the data of a key, and any other leaf as it is."""
    if not _is_key(leaf):
        return leaf
    if isinstance(leaf, jax.ShapeDtypeStruct):
        return jax.eval_shape(jax.random.key_data, leaf)
    return jax.random.key_data(jnp.asarray(leaf))


def _as_key(leaf: Leaf, like: Leaf) -> Leaf:
    """Return the leaf, as a key if `like` is one."""
    return jax.random.wrap_key_data(jnp.asarray(leaf)) if _is_key(like) else leaf
