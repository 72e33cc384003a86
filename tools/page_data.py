"""Write what the page and the package share: games, levels, learners, rows of tables.

python -m tools.page_data

Axes: `P` positions, `F` cells.
"""

import base64
import json

import numpy as np
from jaxtyping import UInt8

from jax_ttt.config.game_facts import DEFAULT_GAME, GAMES, EnvId
from jax_ttt.config.player_kinds import LEVELS, level_text
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.files import json_records
from jax_ttt.files.json_records import JsonObject
from jax_ttt.games import stone_boards
from jax_ttt.games import tree as trees
from jax_ttt.games.tree import Tree
from jax_ttt.web.export import STATIC

TREE_PATH = STATIC / f"{DEFAULT_GAME}.json"
DATA_PATH = STATIC / "engine" / "page_data.js"
_HEAD = """// Made by `make schema` from config/, where the meanings stand: don't edit.

"""
_TITLES = {"tic_tac_toe": "Tic-tac-toe", "mnk_4x4_4": "4 \u00d7 4, four in a row"}


def page_data() -> JsonObject:
    """Return the games, levels and learners of the page."""
    return {
        "games": {
            env_id: {
                "title": _TITLES.get(env_id, _connect_title(facts.shape)),
                "rows": facts.shape[0],
                "columns": facts.shape[1],
                "inARow": facts.in_a_row or (3 if env_id == DEFAULT_GAME else 4),
                "falls": facts.moves_on == "columns",
                "isEnumerable": facts.enumerable,
                "bestResult": facts.best_result,
            }
            for env_id, facts in GAMES.items()
            # The page names PGX's Connect Four connect_7x6, which is the same game.
            if facts.packing is not None and env_id != "connect_four"
        },
        "levels": {
            name: {
                "name": level.name,
                "randomShare": level.random_share,
                "text": level_text(name),
            }
            for name, level in LEVELS.items()
        },
        "sliders": {
            "learning_rate": {
                "name": "Learning rate",
                "help": "How far each update moves the values. High learns fast but "
                "forgets; low is slow.",
            },
            "gamma": {
                "name": "Discount",
                "help": "How much a later result counts. Below 1, a quick win is worth "
                "more than a slow one.",
            },
            "epsilon": {
                "name": "Exploration",
                "help": "The share of random moves in self-play, so that it finds what "
                "it does not know.",
            },
        },
        "learners": {
            # More evaluations than in the presets, so that curves grow in small steps.
            "table": {
                "title": "Table",
                "help": "A table keeps one value for each position of tic-tac-toe.",
                "config": _settings(PRESETS["table"].replace(eval_every=10)),
                "seconds": 10,
                "sliders": _sliders(0.01, 1.0),
            },
            "network": {
                "title": "Network",
                "help": "A network computes the value of each move from the board, so "
                "what it learns in one position changes its values in others.",
                "config": _settings(PRESETS["default"].replace(eval_every=50)),
                "seconds": 20,
                "sliders": _sliders(1e-4, 0.1),
            },
        },
    }


def _connect_title(shape: tuple[int, int]) -> str:
    rows, columns = shape
    return f"Connect Four {columns} \u00d7 {rows}"


def _settings(config: Config) -> JsonObject:
    return json_records.to_dict(config)


def _sliders(low: float, high: float) -> JsonObject:
    """Return the ranges of the sliders; `low` and `high` bound the learning rate."""
    return {"learning_rate": [low, high], "gamma": [0.5, 1.0], "epsilon": [0.0, 1.0]}


def page_data_module() -> str:
    """Return the data as a JavaScript module."""
    text = json.dumps(page_data(), indent=2, ensure_ascii=False)
    return f"{_HEAD}export const DATA = {text};\n"


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
    TREE_PATH.write_bytes(tree_json(DEFAULT_GAME))
    DATA_PATH.write_text(page_data_module(), "utf-8")
