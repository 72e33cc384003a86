"""What a saved agent thinks and plays in every position to decide, as CSV or JSON.

Serves tables and networks alike, in games that can be walked.
"""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from jax_ttt.config.catalogue import GAMES
from jax_ttt.envs.tree import Tree
from jax_ttt.players import network
from jax_ttt.players.agents import Agent
from jax_ttt.reports import text_board


def decisions(agent: Agent, probs: np.ndarray, tree: Tree) -> Iterator[dict[str, Any]]:
    """Yield each position's board, whose turn it is, the values and the move.

    The values are to the mover, None where illegal; `tree` is of NumPy arrays, `probs`
    the agent's policy over it.
    """
    values = np.asarray(network.decision_values(agent.network, agent.params, tree))
    legal = tree.legal_action_mask[tree.decisions]
    first, second = GAMES[agent.config.env_id].seats
    letters = text_board.letters_of(agent.config.env_id)
    moves = probs[tree.decisions].argmax(axis=1)
    for row, position in enumerate(tree.decisions.tolist()):
        pairs = zip(values[row].tolist(), legal[row], strict=True)
        yield {
            "board": text_board.flat(tree, position, letters),
            "to_move": first if tree.first_to_move[position] else second,
            "q_values": [value if ok else None for value, ok in pairs],
            "move": int(moves[row]),
        }


def write_csv(path: Path, rows: Iterator[dict[str, Any]], num_actions: int) -> None:
    """Write a line for each position: board, to_move, q0 to q8, move."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        names = [f"q{action}" for action in range(num_actions)]
        writer.writerow(["board", "to_move", *names, "move"])
        for row in rows:
            cells = ["" if value is None else value for value in row["q_values"]]
            writer.writerow([row["board"], row["to_move"], *cells, row["move"]])


def write_json(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    """Write a list of the positions, one a line."""
    lines = ",\n".join(json.dumps(row, allow_nan=False) for row in rows)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
