"""Trees of arrays as flat dictionaries, by path: `params.layers.layers.0.kernel`.

What is flat needs no class of a library to be read, passed on or stored.
"""

from typing import Any, TypeAlias

import jax
import jax.numpy as jnp

Named: TypeAlias = dict[str, Any]
"""Arrays by the paths of leaves. A PRNG key is its data, uint32 with an axis more."""


def flat(tree: Any) -> Named:  # noqa: ANN401
    """Return the leaves of a tree by their paths.

    Raises:
        ValueError: two leaves have one path.
    """
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    named = {_name(path): _plain(leaf) for path, leaf in leaves}
    if len(named) < len(leaves):
        raise ValueError("two leaves have the same path")
    return named


def unflat(named: Named, structure: Any) -> Any:  # noqa: ANN401
    """Return a tree like `structure`, of arrays or of shapes, with these leaves.

    Raises:
        KeyError: a leaf is missing.
    """
    paths = jax.tree_util.tree_leaves_with_path(structure)
    leaves = [_typed(named[_name(path)], like) for path, like in paths]
    return jax.tree.unflatten(jax.tree.structure(structure), leaves)


def part(named: Named, name: str) -> Named:
    """Return the leaves below a name, by the rest of their paths."""
    begin = f"{name}."
    return {k.removeprefix(begin): v for k, v in named.items() if k.startswith(begin)}


def _name(path: tuple[Any, ...]) -> str:
    parts = [
        str(getattr(key, "key", getattr(key, "idx", getattr(key, "name", key))))
        for key in path
    ]
    if len(parts) > 1 and parts[-1] == "value":  # of a variable of Flax
        parts.pop()
    return ".".join(parts)


def _is_key(leaf: Any) -> bool:  # noqa: ANN401
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _plain(leaf: Any) -> Any:  # noqa: ANN401
    return jax.random.key_data(leaf) if _is_key(leaf) else leaf


def _typed(leaf: Any, like: Any) -> Any:  # noqa: ANN401
    return jax.random.wrap_key_data(leaf) if _is_key(like) else leaf
