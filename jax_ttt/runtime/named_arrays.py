"""Pytrees as flat dictionaries of arrays, by path: `params.layers.layers.0.kernel`.

A flat dictionary can be read, passed on and stored without a library's classes.
"""

from typing import Any, TypeAlias

import jax
import jax.numpy as jnp

Named: TypeAlias = dict[str, Any]
"""Arrays by path. A PRNG key is stored as its data: uint32, with one more axis."""


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
