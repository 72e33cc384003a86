"""A saved agent's values and move in every position to decide, as CSV or JSON.

The agent may be a table or a network; the game must be enumerable.
"""

import csv
import dataclasses
import io
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from jax_ttt.config.catalogue import Seat
from jax_ttt.envs.tree import Tree
from jax_ttt.players import network
from jax_ttt.players.agents import Agent
from jax_ttt.reports import text_board
from jax_ttt.results import plain
from jax_ttt.runtime import files


@dataclasses.dataclass(frozen=True, kw_only=True)
class Decision:
    """An agent's action values and its move in a position."""

    board: str  # cell by cell, row by row: X, O or -
    to_move: Seat
    q_values: tuple[float | None, ...]  # to the player to move; None where illegal
    move: int


def decisions(agent: Agent, probs: np.ndarray, tree: Tree) -> Iterator[Decision]:
    """Yield the agent's decision in each position to decide.

    `tree` holds NumPy arrays; `probs` is the agent's policy.
    """
    values = np.asarray(network.decision_values(agent.network, agent.params, tree))
    legal = tree.legal_action_mask[tree.decisions]
    letters = text_board.letters_of(agent.config.env_id)
    moves = probs[tree.decisions].argmax(axis=1)
    for row, position in enumerate(tree.decisions.tolist()):
        pairs = zip(values[row].tolist(), legal[row], strict=True)
        yield Decision(
            board=text_board.cells_as_text(tree, position, letters),
            to_move=tree.to_move(position),
            q_values=tuple(value if ok else None for value, ok in pairs),
            move=int(moves[row]),
        )


def write_decisions_csv(path: Path, rows: Iterator[Decision], num_actions: int) -> None:
    """Write one line per position: board, to_move, q0, q1 and so on, move."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    names = [f"q{action}" for action in range(num_actions)]
    writer.writerow(["board", "to_move", *names, "move"])
    for row in rows:
        cells = ["" if value is None else value for value in row.q_values]
        writer.writerow([row.board, row.to_move, *cells, row.move])
    files.write_output(path, text.getvalue().encode())


def write_decisions_json(path: Path, rows: Iterator[Decision]) -> None:
    """Write a list with one position per line."""
    lines = ",\n".join(json.dumps(plain.to_dict(row), allow_nan=False) for row in rows)
    files.write_output(path, f"[\n{lines}\n]\n".encode())
