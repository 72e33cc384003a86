"""Ask a player for its moves in 1,012 positions of Connect Four of known value.

python docs/examples/exam.py PLAYER [connect_7x6 | connect_four]
"""

import csv
import sys
from pathlib import Path

import jax
import numpy as np

import jax_ttt
from jax_ttt.config.grade import wilson_interval
from jax_ttt.games.played_game import replay

FILE = Path(__file__).with_name("connect_four.csv")


def examine(player):
    """Return the shares as text: of all positions, and of each kind, by its name."""
    rows = list(csv.DictReader(FILE.read_text("utf-8").splitlines()))
    lines = [[int(column) - 1 for column in row["moves"]] for row in rows]
    moves = player.moves(lines, replay(player.env_id, lines), jax.random.key(0))
    scores = [[float(row[f"s{n}"] or "nan") for n in range(1, 8)] for row in rows]
    values = np.sign(scores)  # 1: the move wins; 0: a draw; NaN: it is illegal
    keeps = values[np.arange(len(rows)), moves] == np.nanmax(values, axis=1)
    shares = {}
    for kind in ("all", "random", "tactical"):
        kept = keeps[[kind in ("all", row["kind"]) for row in rows]]
        low, high = wilson_interval(kept.sum(), len(kept))
        shares[kind] = f"{kept.mean():.1%} ({low:.1%} to {high:.1%})"
    return shares


if __name__ == "__main__":
    name, env_id = [*sys.argv[1:], "connect_7x6"][:2]
    player = jax_ttt.player(name, env_id=env_id)
    print(examine(player))
    player.close()
