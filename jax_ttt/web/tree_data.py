"""A game's tree as JSON: the page knows positions, moves and results from it alone.

Axes: `P` positions, `A` actions, `F` cells, `G` orders of actions.
"""

import base64
import json

import numpy as np
from jaxtyping import Int, Shaped, UInt8

from jax_ttt.config.catalogue import GAMES, EnvId
from jax_ttt.files.records import JsonObject
from jax_ttt.games import stones
from jax_ttt.games import tree as trees
from jax_ttt.games.tree import Tree
from jax_ttt.solver import minimax

NOT_OVER = 3
"""Result of a position with a move to choose; the others are -1, 0 and 1."""


def tree_json(env_id: EnvId) -> bytes:
    """Return the tree of an enumerable game as JSON.

    Arrays are base64 of little-endian numbers:

    `cells` (P, F) uint8: 0 free, 1 first player's stone, 2 second's. `first_to_move`
    (P,) uint8. `result` (P,) int8: the first player lost -1, drew 0, won 1; 3 if the
    game is not over. `successor` (P, A) uint16, 0 where illegal. `exact` (P,) int8:
    value to the first player. `moves_left` (P,) uint8 under quickest best play.
    `won_lines` (P,) uint16: bit `i` is set if the winner has the cells `lines[i]`.
    `order` (P,) uint8: the place in `orders` of the position's actions as they follow
    each other on the canonical board.

    Raises:
        ValueError: the game is too large to enumerate.
    """
    tree, game = trees.enumerated(env_id), GAMES[env_id]
    quick = minimax.values(tree, minimax.QUICK)
    lines = winning_lines(tree)
    orders, order = action_orders(tree)
    about: JsonObject = {
        "env_id": env_id,
        "shape": game.shape,
        "letters": game.letters,
        "num_positions": tree.num_positions,
        "num_actions": tree.successor.shape[1],
        "lines": lines,
        "orders": orders.tolist(),
        "cells": encoded(stone_cells(tree), "u1"),
        "first_to_move": encoded(tree.first_to_move, "u1"),
        "result": encoded(np.where(tree.terminal, tree.outcome, NOT_OVER), "i1"),
        "successor": encoded(tree.successor, "<u2"),
        "exact": encoded(minimax.values(tree), "i1"),
        "moves_left": encoded(moves_left(tree, quick), "u1"),
        "won_lines": encoded(won_lines(tree, lines), "<u2"),
        "order": encoded(order, "u1"),
    }
    return json.dumps(about, separators=(",", ":")).encode()


def encoded(array: Shaped[np.ndarray, "..."], dtype: str) -> str:
    """Return an array as base64 text, row by row, in this NumPy dtype."""
    return base64.b64encode(np.ascontiguousarray(array, dtype).tobytes()).decode()


def stone_cells(tree: Tree) -> UInt8[np.ndarray, "P F"]:
    """Return the cells of each position: 0 free, 1 first player's stone, 2 second's."""
    own = stones.cells_on_host(tree.obs)
    first = np.where(tree.first_to_move[:, None], own, -own)
    return np.where(first < 0, 2, first).astype(np.uint8)


def winning_lines(tree: Tree) -> list[list[int]]:
    """Return the smallest sets of cells with which a player wins, in ascending order.

    They are the winner's stones in the wins with the fewest stones of the winner.
    """
    board = stone_cells(tree)
    held = np.concatenate(
        [board[tree.outcome == 1] == 1, board[tree.outcome == -1] == 2]
    )
    fewest = held[held.sum(axis=1) == held.sum(axis=1).min()]
    return sorted(np.flatnonzero(line).tolist() for line in np.unique(fewest, axis=0))


def won_lines(tree: Tree, lines: list[list[int]]) -> Int[np.ndarray, " P"]:
    """Return for each position which lines its winner has, as bits; 0 without one."""
    board, marked = stone_cells(tree), np.zeros(tree.num_positions, np.int64)
    stone = np.where(tree.outcome == 1, 1, 2)[:, None]
    for bit, line in enumerate(lines):
        complete = (board[:, line] == stone).all(axis=1) & (tree.outcome != 0)
        marked |= complete.astype(np.int64) << bit
    return marked


def action_orders(
    tree: Tree,
) -> tuple[Int[np.ndarray, "G A"], Int[np.ndarray, " P"]]:
    """Return the orders of actions on canonical boards, and each position's one.

    It is a place in the orders, 0 where the game is over.
    """
    place = np.zeros(tree.num_positions, np.int64)
    if tree.classes is None:
        return np.arange(tree.successor.shape[1])[None], place
    order = np.argsort(tree.classes.actions, axis=1, kind="stable")
    orders, found = np.unique(order, axis=0, return_inverse=True)
    place[tree.decisions] = found.reshape(-1)
    return orders, place


def moves_left(
    tree: Tree, quick_values: Shaped[np.ndarray, " P"]
) -> Int[np.ndarray, " P"]:
    """Return how many moves each game lasts if wins are quick and losses late.

    `quick_values` are the values with the discount `minimax.QUICK`. Drawn games have 0.
    """
    size = np.abs(quick_values)
    decided = np.where(size > 0, size, 1.0)
    return np.rint(np.log(decided) / np.log(minimax.QUICK)).astype(np.int64)
