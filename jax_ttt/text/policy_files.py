"""Files with a player's move in every position: policies and certificates.

A policy has a saved agent's move and action values in all positions of an enumerable
game in which a move must be chosen, as CSV or JSON.
"""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from jax_ttt.config.game_facts import Seat
from jax_ttt.files import json_records
from jax_ttt.files.json_records import JsonObject
from jax_ttt.games.tree import Tree
from jax_ttt.grading import certificates
from jax_ttt.grading.certificates import Certificate
from jax_ttt.players import saved_agents
from jax_ttt.players.player import Player
from jax_ttt.players.registry import AgentPlayer, PlayerSpec
from jax_ttt.players.saved_agents import Agent
from jax_ttt.runtime import atomic_files, standard_streams
from jax_ttt.runtime.words import count_phrase
from jax_ttt.text.board_text import cells_as_text


@dataclasses.dataclass(frozen=True, kw_only=True)
class Decision:
    """An agent's action values and its move in a position."""

    board: str
    """The cells, row by row: `X`, `O` or `-`."""
    to_move: Seat
    """The seat to move."""
    q_values: tuple[float | None, ...]
    """Value of each move to the player to move; None (null) for illegal moves."""
    move: int
    """The move that the agent plays."""


def policy_decisions(agent: Agent, probs: np.ndarray, tree: Tree) -> Iterator[Decision]:
    """Yield the agent's decision in each position in which a move must be chosen.

    `tree` holds NumPy arrays; `probs` is the agent's policy.
    """
    values = np.asarray(saved_agents.decision_values(agent.network, agent.params, tree))
    legal = tree.legal_action_mask[tree.decisions]
    moves = probs[tree.decisions].argmax(axis=1)
    for row, position in enumerate(tree.decisions.tolist()):
        q_values = tuple(
            value if is_legal else None
            for value, is_legal in zip(values[row].tolist(), legal[row], strict=True)
        )
        yield Decision(
            board=cells_as_text(tree, position),
            to_move=tree.to_move(position),
            q_values=q_values,
            move=int(moves[row]),
        )


def write_decisions_csv(path: Path, rows: Iterator[Decision]) -> None:
    """Write one line per position: board, to_move, q0, q1 and so on, move."""
    cells: list[JsonObject] = [
        {
            "board": row.board,
            "to_move": row.to_move,
            **{f"q{action}": value for action, value in enumerate(row.q_values)},
            "move": row.move,
        }
        for row in rows
    ]
    atomic_files.write_csv(path, cells)


def write_decisions_json(path: Path, rows: Iterator[Decision]) -> None:
    """Write a JSON list with one position per line."""
    lines = ",\n".join(json_records.to_json(row) for row in rows)
    atomic_files.write_output(path, f"[\n{lines}\n]\n".encode())


def write_policy(
    player: Player,
    tree: Tree,
    as_csv: Path | None,
    as_json: Path | None,
    quiet: bool,
) -> None:
    """Write a saved agent's decisions to CSV, JSON or both, and report each file.

    With `quiet`, the report goes to stderr, since stdout has the output of a command.
    """
    probs = player.policy
    if not isinstance(player, AgentPlayer) or probs is None:
        return
    for path in filter(None, (as_csv, as_json)):
        rows = policy_decisions(player.agent, probs, tree)
        if path == as_csv:
            write_decisions_csv(path, rows)
        else:
            write_decisions_json(path, rows)
        size = count_phrase(len(tree.decisions), "row")
        standard_streams.print_written(path, size, quiet)


def make_certificate(spec: PlayerSpec, player: Player) -> tuple[Certificate, str]:
    """Return a player's certificate, and the reason if it is for one seat only.

    Raises:
        Refused: no seat can be certified.
    """
    name, sha256 = spec.name, ""
    if spec.is_program:
        # Its path says nothing to others, as that of an agent.
        name = f"{name.removesuffix(spec.innermost.name)}program:COMMAND"
    if (saved := spec.saved) is not None:
        # The agent's path says nothing to others; the checksum identifies its file.
        name = f"{name.removesuffix(saved.name)}AGENT"
        sha256 = saved_agents.file_checksum(saved.path)
    moves, reason = certificates.proven_moves(player)
    return Certificate.of(player, name, moves, sha256), reason


def write_certificate(
    path: Path, certificate: Certificate, reason: str, as_json: bool
) -> None:
    """Write a certificate as JSON with a line for each position, and report the file.

    `reason` says why a seat is not in it; it is empty if both are.
    """
    text = json.dumps(json_records.to_dict(certificate), indent=1)
    atomic_files.write_atomic(path, f"{text}\n".encode("ascii"))
    size = count_phrase(certificate.num_positions, "position")
    standard_streams.print_written(path, size, as_json)
    if reason:
        standard_streams.print_stderr(
            f"note: the certificate is for one seat only; {reason}"
        )
