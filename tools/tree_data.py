"""Write the positions of a table's rows as JSON, by which the page finds a board's row.

python -m tools.tree_data

Axes: `P` positions, `F` cells.
"""

import base64
import json

import numpy as np
from jaxtyping import UInt8

from jax_ttt.config.game_facts import DEFAULT_GAME, EnvId
from jax_ttt.games import stone_boards
from jax_ttt.games import tree as trees
from jax_ttt.games.tree import Tree
from jax_ttt.web.one_file import STATIC

PATH = STATIC / f"{DEFAULT_GAME}.json"
"""The page's copy."""


def tree_json(env_id: EnvId) -> bytes:
    """Return the positions of an enumerable game as JSON, in the order of its tree.

    `cells` (P, F) are bytes as base64, position by position and row by row: 0 free, 1
    first player's stone, 2 second's.

    Raises:
        ValueError: the game is too large to enumerate.
    """
    cells = stone_cells(trees.enumerated(env_id))
    text = base64.b64encode(cells.tobytes()).decode()
    return json.dumps({"env_id": env_id, "cells": text}).encode() + b"\n"


def stone_cells(tree: Tree) -> UInt8[np.ndarray, "P F"]:
    """Return the cells of each position: 0 free, 1 first player's stone, 2 second's."""
    cells_of_mover = stone_boards.cells(tree.obs)
    first = np.where(tree.first_to_move[:, None], cells_of_mover, -cells_of_mover)
    return np.where(first < 0, 2, first).astype(np.uint8)


if __name__ == "__main__":
    PATH.write_bytes(tree_json(DEFAULT_GAME))
