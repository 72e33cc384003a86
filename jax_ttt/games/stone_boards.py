"""Boards of stones: their cells, their keys and their symmetric views.

A board is an array of cells. Its key has two bits for each cell, the first cell the
lowest: 2 for the mover's stone, 1 if free, 0 for the opponent's. `games.position_keys`
packs positions with the same function.

A board's canonical board is the view (rotated, reflected) with the least key, so
symmetric boards have the same one. A network that sees only canonical boards learns
each class of symmetric boards once.

Axes: `B` boards, `H W` rows and columns, `F` cells, `N` digits, `W` words, `G` views,
`A` actions, `D` decisions, `C` classes.
"""

import dataclasses
from types import ModuleType
from typing import Any, Generic, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Shaped, UInt32

from jax_ttt.config.game_facts import KEY_WORD

ArrayT = TypeVar("ArrayT", jax.Array, np.ndarray)
"""The type of arrays: JAX's, which may be traced, or NumPy's on the host."""
LeafT = TypeVar("LeafT")
"""The type of a pytree's leaves: `ArrayT`, or what JAX maps the arrays to."""


def cells(obs: Shaped[ArrayT, "B H W 2"]) -> Int[ArrayT, "B F"]:
    """Return int8: 1 for the mover's stones, -1 for the opponent's, 0 if free."""
    mine = obs[..., 0].astype(np.int8)
    yours = obs[..., 1].astype(np.int8)
    return (mine - yours).reshape(len(obs), -1)


class Views(NamedTuple):
    """The symmetric views of a game's boards, the identity first.

    Cell `i` of view `g` is cell `cells[g, i]` of the board, and action `a` in it is
    action `actions[g, a]` on the board.
    """

    cells: Int[np.ndarray, "G F"]
    actions: Int[np.ndarray, "G A"]


CELL_BITS = 2
"""Bits of a cell in a key."""


def join_digits(
    digits: Shaped[ArrayT, "B N"], orders: Int[np.ndarray, "G N"], bits: int
) -> UInt32[ArrayT, "B G W"]:
    """Return the keys of digits in some orders, as 32-bit words, the lowest first.

    Digit `i` in order `g` is `digits[:, orders[g, i]]`, and the first one has the
    lowest bits. No digit has bits in two words, so no sum carries. There are two words,
    or more if the digits need them. One matrix product of integers computes all keys.
    """
    num_orders, num_digits = orders.shape
    word, place = np.divmod(np.arange(num_digits), KEY_WORD // bits)
    weights = np.zeros((num_digits, num_orders, max(word[-1] + 1, 2)), np.uint32)
    for number, order in enumerate(orders):
        weights[order, number, word] = 1 << bits * place
    keys: Any = array_module(digits).matmul(
        digits.astype(np.uint32), weights.reshape(num_digits, -1)
    )
    return keys.reshape(len(digits), *weights.shape[1:])


def least_keys(keys: UInt32[ArrayT, "B G W"]) -> Bool[ArrayT, "B G"]:
    """Return a mask of the least of each board's keys; several if they are equal."""
    # Compare the highest words first; where they are equal, the next lower ones.
    xp = array_module(keys)
    columns: Any = [keys[..., number] for number in range(keys.shape[-1])]
    *lower, highest = columns
    least = highest == highest.min(axis=-1, keepdims=True)
    for words in reversed(lower):
        words = xp.where(least, words, np.uint32(2**KEY_WORD - 1))
        least &= words == words.min(axis=-1, keepdims=True)
    return least


def least_views(cells: Int[ArrayT, "B F"], views: Views) -> Bool[ArrayT, "B G"]:
    """Return a mask of the canonical view of each board with these `cells`.

    If a board is its own image, several views are marked.
    """
    return least_keys(join_digits(cells + 1, views.cells, CELL_BITS))


def to_canonical(
    obs: Shaped[ArrayT, "B H W C"], views: Views, least: Bool[ArrayT, "B G"]
) -> Shaped[ArrayT, "B H W C"]:
    """Return the canonical view of each board."""
    xp = array_module(obs)
    order = xp.asarray(views.cells)[least.argmax(axis=-1)]  # (B, F)
    flat = obs.reshape(obs.shape[0], -1, obs.shape[-1])
    return xp.take_along_axis(flat, order[..., None], axis=1).reshape(obs.shape)


def array_module(*arrays: object) -> ModuleType:
    """Return the module of the arrays' functions: `numpy` if all are NumPy's."""
    is_host = all(isinstance(array, np.ndarray) for array in arrays)
    return np if is_host else jnp


def to_canonical_actions(
    views: Views, least: Bool[ArrayT, "B G"]
) -> Int[ArrayT, "B A"]:
    """Return the action in the canonical view of each action on the board.

    On a board that is its own image, symmetric actions become one: the least of them.
    """
    inverse = np.argsort(views.actions, axis=-1)[None]
    where = array_module(least).where
    return where(least[..., None], inverse, len(views.actions[0])).min(axis=1)


def from_canonical(
    values: Float[Array, "heads B A"], views: Views, least: Bool[Array, "B G"]
) -> Float[Array, "heads B A"]:
    """Map the values of the canonical view's actions to the board's own actions."""
    actions = to_canonical_actions(views, least)
    actions = jnp.broadcast_to(actions, values.shape)
    return jnp.take_along_axis(values, actions, axis=-1)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Classes(Generic[LeafT]):
    """The decisions of a tree, in classes with the same canonical board.

    Action `a` in decision `d` is action `actions[d, a]` on the canonical board.
    """

    boards: LeafT  # (C,) int32 position of the canonical board
    row: LeafT  # (D,) int32 the decision's class
    actions: LeafT  # (D, A) int32
