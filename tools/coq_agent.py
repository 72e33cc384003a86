"""Write the theorem that an agent never loses, for Coq to check: see proofs/README.md.

python -m tools.coq_agent FILE OUT.v

FILE is a saved agent with a network of integers, or a certificate (.json).
"""

import hashlib
import json
import sys
from collections import ChainMap
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import jax_ttt
from jax_ttt.config.game_facts import CERTIFIED, seat_name
from jax_ttt.games import position_keys
from jax_ttt.games import tree as trees
from jax_ttt.grading.certificates import board_texts, proven_moves
from jax_ttt.networks import integer_network
from jax_ttt.players import saved_agents

AGENT = "agent_move size corrections net"
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
    """Return the outputs of a layer, whose scales must be powers of two."""
    kernel, bias = np.asarray(layer["kernel"]), np.asarray(layer["bias"])
    shift = -np.log2(np.broadcast_to(layer["scale"], bias.shape))
    if bias.ndim > 1 or (shift != np.clip(np.rint(shift), 0, 24)).any():
        raise jax_ttt.Refused("its network has a convolution, or scales not of 2**-n")
    rows = zip(kernel.tolist(), bias, shift.astype(int), strict=True)
    outputs = ";\n".join(f"Output {weights} ({b}) {s}" for weights, b, s in rows)
    return f"[{outputs}]".replace(",", ";")


def coq_agent(agent: saved_agents.Agent, own: Mapping[str, int]) -> str:
    """Return a network and its corrections; `own` are the moves on its own boards."""
    env_id, found, told = agent.config.env_id, agent.corrections, set()
    views = position_keys.all_views(env_id)
    for board in [] if found is None else board_texts(env_id, found.keys):
        told |= {"".join(board[cell] for cell in view) for view in views.cells}
    *hidden, last = integer_network.in_order(agent.params)
    used = slice(views.actions.shape[1])  # the other outputs are not used in play
    last = {"kernel": last["kernel"][used], "bias": last["bias"][used], "scale": 1}
    planes = str(agent.config.network.two_planes).lower()
    return f"""Definition net :=
Network {planes} [{"; ".join(map(coq_layer, hidden))}] {coq_layer(last)}.
Definition corrections := {coq_table({b: own[b] for b in own if b in told})}.
"""


def coq_file(path: Path) -> str:
    """Return the definitions and the theorems for a file."""
    content, agent, text, library = path.read_bytes(), None, "", "Boards"
    if path.suffix == ".json":
        certificate = json.loads(content)
        env_id, moves = certificate["env_id"], certificate["moves"]
    else:
        agent = jax_ttt.load(path)
        env_id = agent.config.env_id
        if not integer_network.is_integer(agent.params):
            raise jax_ttt.Refused("it has no network of integers: see jax_ttt.correct")
    if env_id not in CERTIFIED:
        raise jax_ttt.Refused(f"its game must be one of {', '.join(CERTIFIED)}")
    if agent is not None:
        library = "Network" if env_id == "tic_tac_toe" else "Machine"
        moves, _ = proven_moves(jax_ttt.player(agent), trees.game_tree(env_id))
        text = coq_agent(agent, dict(ChainMap(*moves.values())))
    for seat, own in moves.items():
        strategy = AGENT if agent is not None else f"table_move ({coq_table(own)})"
        names = {"seat": seat_name(seat), "agent": strategy, "number": len(own)}
        text += THEOREM.format(**names)
    return f"""(* SHA-256 of the file: {hashlib.sha256(content).hexdigest()} *)
From Proofs Require Import {library}.
Definition size := {env_id.replace("connect_", "connect ").replace("x", " ")}.
{text}"""


if __name__ == "__main__":
    try:
        Path(sys.argv[2]).write_text(coq_file(Path(sys.argv[1])), "ascii")
    except (OSError, ValueError, LookupError) as error:
        sys.exit(f"refused: {error}; usage: python -m tools.coq_agent FILE OUT.v")
