"""The symmetries of a game, and its classes of symmetric positions.

All arrays are NumPy's. Axes: `G` views, `F` cells, `A` actions, `P` positions, `D`
decisions (positions with a move to choose), `C` classes of decisions.
"""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

import jax
import numpy as np
from jaxtyping import Int

from jax_ttt.config.catalogue import GAMES, EnvId
from jax_ttt.games import stones

ArrayT = TypeVar("ArrayT", jax.Array, np.ndarray)
"""The type of arrays: JAX's, which may be traced, or NumPy's on the host."""
LeafT = TypeVar("LeafT")
"""The type of a pytree's leaves: `ArrayT`, or what JAX maps the arrays to."""


class Views(NamedTuple):
    """The symmetric views of a board (rotations, reflections), the identity first.

    Cell `i` of view `g` is cell `cells[g, i]` of the board, and action `a` in it is
    action `actions[g, a]` on the board.
    """

    cells: Int[np.ndarray, "G F"]
    actions: Int[np.ndarray, "G A"]


@functools.cache
def views(env_id: EnvId) -> Views | None:
    """Return the game's views; None where the catalogue lists none."""
    listed = GAMES[env_id].symmetries
    if not listed:
        return None
    every = zip(*listed, strict=True)
    return Views(*(np.array(permutations) for permutations in every))


def find_first_views(
    cells: Int[np.ndarray, "P F"], level_start: Sequence[int], views: Views
) -> tuple[Int[np.ndarray, " P"], Int[np.ndarray, " P"]]:
    """Return for each position the first of its symmetric positions, and the view.

    `cells` are the boards from the mover's perspective. `level_start` is that of
    `tree.Tree`; positions of different levels may have equal `cells`.

    Raises:
        ValueError: the views are not symmetries of the game.
    """
    level = np.repeat(np.arange(len(level_start) - 1), np.diff(level_start))
    numbers = stones.number_on_host(cells[:, views.cells])  # (P, G)
    keys = level[:, None] * 3 ** cells.shape[1] + numbers
    own = keys[:, 0]  # the first view is the identity
    order = np.argsort(own)
    place = np.searchsorted(own, keys, sorter=order).clip(max=len(own) - 1)
    position = order[place]
    if (own[position] != keys).any():
        raise ValueError("a symmetric view of a position is not in the tree")
    return position.min(axis=1).astype(np.int32), position.argmin(axis=1)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Classes(Generic[LeafT]):
    """The decisions (D) grouped into C classes of symmetric positions.

    Action `a` in decision `d` is action `actions[d, a]` in position `boards[row[d]]`.
    """

    boards: LeafT  # (C,) int32
    row: LeafT  # (D,) int32
    actions: LeafT  # (D, A) int32


def classes(
    decisions: Int[np.ndarray, " D"],
    first: Int[np.ndarray, " P"],
    view: Int[np.ndarray, " P"],
    views: Views,
) -> Classes[np.ndarray]:
    """Return the symmetry classes of the decisions.

    `first` and `view` are the results of `find_first_views`.
    """
    boards, row = np.unique(first[decisions], return_inverse=True)
    actions = np.argsort(views.actions, axis=1)[view[decisions]]
    return Classes(
        boards=boards.astype(np.int32),
        row=row.reshape(-1).astype(np.int32),
        actions=actions.astype(np.int32),
    )
