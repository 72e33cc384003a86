"""Symmetric views of boards (rotations, reflections), and the canonical board.

The key of a board is a number with a digit in base 4 for each cell, the first cell the
least significant: 2 for the mover's stone, 1 if free, 0 for the opponent's. A board's
canonical board is the view with the least key, so symmetric boards have the same one.
A network that sees only canonical boards learns each class of symmetric boards once.

The first half works on batches of boards, in compiled programs; the second groups the
positions of a whole tree, in NumPy.

Axes: `B` boards, `G` views, `F` cells, `A` actions, `P` positions, `D` decisions, `C`
classes.
"""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Shaped

from jax_ttt.config.game_facts import GAMES, EnvId

ArrayT = TypeVar("ArrayT", jax.Array, np.ndarray)
"""The type of arrays: JAX's, which may be traced, or NumPy's on the host."""
LeafT = TypeVar("LeafT")
"""The type of a pytree's leaves: `ArrayT`, or what JAX maps the arrays to."""


class Views(NamedTuple):
    """The symmetric views of a game's boards, the identity first.

    Cell `i` of view `g` is cell `cells[g, i]` of the board, and action `a` in it is
    action `actions[g, a]` on the board.
    """

    cells: Int[np.ndarray, "G F"]
    actions: Int[np.ndarray, "G A"]


@functools.cache
def symmetric_views(env_id: EnvId) -> Views | None:
    """Return the game's views; None where its record lists none."""
    listed = GAMES[env_id].symmetries
    if not listed:
        return None
    return Views(
        cells=np.array([symmetry.cells for symmetry in listed]),
        actions=np.array([symmetry.actions for symmetry in listed]),
    )


_PART = 12
"""Cells in one part of a key: float32 represents integers up to `4**12` exactly."""


def least_views(cells: Float[Array, "B F"], views: Views) -> Bool[Array, "B G"]:
    """Return a mask of the canonical view of each board.

    `cells` are as in `stone_boards.cells`. If a board is its own image, several views
    are marked. One matrix product computes the keys of all views, less the key of the
    empty board. It is exact, since keys of many cells are split into parts.
    """
    num_views, num_cells = views.cells.shape
    num_parts = -(-num_cells // _PART)
    weights = np.zeros((num_cells, num_views, num_parts), np.float32)
    for place in range(num_cells):
        part, place_in_part = divmod(place, _PART)
        weights[views.cells[:, place], np.arange(num_views), part] = 4.0**place_in_part
    keys = jnp.dot(cells, weights.reshape(num_cells, -1), precision="highest")
    keys = keys.reshape(len(cells), num_views, num_parts)
    # Compare the highest parts first; where they are equal, the next lower ones.
    *lower, highest = (keys[..., part] for part in range(num_parts))
    least = highest == highest.min(axis=-1, keepdims=True)
    for part in reversed(lower):
        part = jnp.where(least, part, jnp.inf)
        least &= part == part.min(axis=-1, keepdims=True)
    return least


def to_canonical(
    obs: Shaped[Array, "B H W C"], views: Views, least: Bool[Array, "B G"]
) -> Shaped[Array, "B H W C"]:
    """Return the canonical view of each board."""
    order = jnp.asarray(views.cells)[jnp.argmax(least, axis=-1)]  # (B, F)
    flat = obs.reshape(obs.shape[0], -1, obs.shape[-1])
    return jnp.take_along_axis(flat, order[..., None], axis=1).reshape(obs.shape)


def to_canonical_actions(views: Views, least: Bool[Array, "B G"]) -> Int[Array, "B A"]:
    """Return the action in the canonical view of each action on the board.

    On a board that is its own image, symmetric actions become one: the least of them.
    """
    inverse = np.argsort(views.actions, axis=-1)[None]
    return jnp.where(least[..., None], inverse, len(views.actions[0])).min(axis=1)


def from_canonical(
    values: Float[Array, "heads B A"], views: Views, least: Bool[Array, "B G"]
) -> Float[Array, "heads B A"]:
    """Map the values of the canonical view's actions to the board's own actions."""
    actions = to_canonical_actions(views, least)
    actions = jnp.broadcast_to(actions, values.shape)
    return jnp.take_along_axis(values, actions, axis=-1)


def keys_on_host(cells: Int[np.ndarray, "*B F"]) -> Int[np.ndarray, "*B"]:
    """Return the keys of boards of at most 31 cells (see `stone_boards.cells`)."""
    return (cells + 1) @ 4 ** np.arange(cells.shape[-1])


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Classes(Generic[LeafT]):
    """The decisions of a tree, in classes with the same canonical board.

    Action `a` in decision `d` is action `actions[d, a]` on the canonical board.
    """

    boards: LeafT  # (C,) int32 position of the canonical board
    row: LeafT  # (D,) int32 the decision's class
    actions: LeafT  # (D, A) int32


def symmetry_classes(
    cells: Int[np.ndarray, "P F"],
    level_start: Sequence[int],
    decisions: Int[np.ndarray, " D"],
    views: Views,
) -> tuple[Int[np.ndarray, " P"], Classes[np.ndarray]]:
    """Return for each position the first one of its canonical board, and the classes.

    `cells` are as in `stone_boards.cells`. `level_start` is as in `tree.Tree`: it tells
    apart positions of different levels with equal `cells`. The classes have the order
    of their first positions.

    Raises:
        ValueError: the views are not symmetries of the game.
    """
    level = np.repeat(np.arange(len(level_start) - 1), np.diff(level_start))
    keys = keys_on_host(cells[:, views.cells])  # (P, G)
    keys += level[:, None] * 4 ** cells.shape[1]
    position_keys = keys[:, 0]  # the first view is the identity
    if not np.isin(keys, position_keys).all():
        raise ValueError("a symmetric view of a position is not in the tree")
    least_keys, first_of_class, class_of = np.unique(
        keys.min(axis=1), return_index=True, return_inverse=True
    )
    order = np.argsort(position_keys)
    canonical = order[np.searchsorted(position_keys, least_keys, sorter=order)]
    # The same for the decisions alone: a class's number is now its rank among them.
    representative = first_of_class[class_of]
    class_firsts, row = np.unique(representative[decisions], return_inverse=True)
    is_least = keys == keys.min(axis=1, keepdims=True)
    return representative.astype(np.int32), Classes(
        boards=canonical[class_of[class_firsts]].astype(np.int32),
        row=row.astype(np.int32),
        actions=_actions_on_host(views, is_least[decisions]),
    )


def _actions_on_host(
    views: Views, is_least: Bool[np.ndarray, "D G"]
) -> Int[np.ndarray, "D A"]:
    """Return the result of `to_canonical_actions` without compiling."""
    inverse = np.argsort(views.actions, axis=-1)[None]
    actions = np.where(is_least[..., None], inverse, len(views.actions[0]))
    return actions.min(axis=1).astype(np.int32)
