"""Write the theorem that an agent never loses, for Coq to check: see proofs/README.md.

python -m tools.coq_agent FILE OUT.v
"""

import dataclasses
import hashlib
import json
import runpy
import sys
from collections import ChainMap
from collections.abc import Mapping
from pathlib import Path

import jax
import numpy as np
import tyro

import jax_ttt
from jax_ttt.config.game_facts import CERTIFIED, GAMES, Seat, seat_name
from jax_ttt.games import pgx_games
from jax_ttt.grading.certificates import board_texts, proven_moves
from jax_ttt.networks import integer_network
from jax_ttt.players import saved_agents


@dataclasses.dataclass(frozen=True)
class Args:
    """Write the theorem that an agent never loses, for Coq to check."""

    file: tyro.conf.Positional[Path]
    """A saved agent with a network of integers, or a certificate (.json)."""
    out: tyro.conf.Positional[Path]
    """The file of Coq to write."""


CHECKER = Path(__file__).parents[1] / "docs" / "check_certificate.py"
LARGE = "connect_5x4", "connect_4x5", "connect_5x5"
THEOREM = """
Definition agent_as_{seat} := {agent}.
Theorem never_loses_as_{seat} :
  never_loses (stones_in_a_row size) {seat} agent_as_{seat}.
Proof. by_walk {number}%N. Qed.
Check never_loses_as_{seat}.
Print Assumptions never_loses_as_{seat}.
"""


def coq_table(moves: Mapping[str, int]) -> str:
    """Return boards with the moves there."""
    rows = ";\n".join(f'("{board}", {move}%nat)' for board, move in moves.items())
    return f"table [{rows}]"


def coq_layer(layer: Mapping[str, np.ndarray]) -> str:
    """Return a layer's outputs. Its scales, but that of scores, are powers of two."""
    kernel, bias, scale = layer["kernel"], layer["bias"], layer["scale"]
    scales = scale if scale.ndim else np.ones(bias.shape)
    fraction, exponent = np.frexp(scales)
    is_power = (fraction == 0.5) & (exponent <= 1) & (exponent >= -23)
    if bias.ndim > 1 or not is_power.all():
        raise jax_ttt.Refused("its network has a convolution, or scales not of 2**-n")
    rows = zip(kernel.tolist(), bias, 1 - exponent, strict=True)
    outputs = ";\n".join(f"Output {weights} ({b}) {s}" for weights, b, s in rows)
    return f"[\n{outputs}]".replace(",", ";")


def coq_network(agent: saved_agents.Agent, own: Mapping[str, int]) -> str:
    """Return a network and its corrections; `own` are the moves on its own boards."""
    settings = agent.config
    if not settings.canonical:
        raise jax_ttt.Refused("its network must see canonical boards")
    views = pgx_games.views_of(GAMES[agent.config.env_id].symmetries)
    told: set[str] = set()  # the images of boards with a correction
    if agent.corrections is not None:
        for board in board_texts(agent.config.env_id, agent.corrections.keys):
            told |= {"".join(board[cell] for cell in view) for view in views.cells}
    *hidden, last = jax.device_get(integer_network.in_order(agent.params))
    return f"""Definition net := Network {str(settings.two_planes).lower()}
[{"; ".join(map(coq_layer, hidden))}]
{coq_layer(last)}.
Definition corrections := {coq_table({b: own[b] for b in own if b in told})}.
"""


def coq_file(path: Path) -> str:
    """Return the definitions and the theorems for a file."""
    content = path.read_bytes()
    if path.suffix == ".json":
        certificate = json.loads(content)
        runpy.run_path(str(CHECKER))["check"](certificate)
        env_id = certificate["env_id"]
        library, definitions = "Boards", ""
        moves: Mapping[Seat, Mapping[str, int]] = certificate["moves"]
        agents = {seat: f"table_move ({coq_table(own)})" for seat, own in moves.items()}
    else:
        agent = jax_ttt.load(path)
        env_id = agent.config.env_id
        if not integer_network.is_integer(agent.params):
            raise jax_ttt.Refused("it has no network of integers: see jax_ttt.correct")
        if env_id not in CERTIFIED:
            raise jax_ttt.Refused(f"its game must be one of {', '.join(CERTIFIED)}")
        # With the integers of the processor, a walk takes a sixth of the time.
        library = "Machine" if env_id in LARGE else "Network"
        moves, _ = proven_moves(jax_ttt.player(agent))
        agents = dict.fromkeys(moves, "agent_move size corrections net")
        definitions = coq_network(agent, ChainMap(*moves.values()))
    text = f"""(* SHA-256 of the file: {hashlib.sha256(content).hexdigest()} *)
From Proofs Require Import {library}.
Definition size := {env_id.replace("connect_", "connect ").replace("x", " ")}.
{definitions}"""
    for seat, own in moves.items():
        names = {"seat": seat_name(seat), "agent": agents[seat], "number": len(own)}
        text += THEOREM.format(**names)
    return text


if __name__ == "__main__":
    args = tyro.cli(Args, prog="python -m tools.coq_agent")
    try:
        args.out.write_bytes(coq_file(args.file).encode("ascii"))
    except (OSError, ValueError, RecursionError) as error:
        sys.exit(f"{str(args.file)!r} is refused: {error}")
