"""Positions of known value: python docs/examples/exam.py PLAYER [GAME [FILE]]."""

import csv
import sys
from pathlib import Path

import jax
import numpy as np

import jax_ttt
from jax_ttt.config.grade import wilson_interval
from jax_ttt.games.played_game import replay

FILE = Path(__file__).with_name("connect_four.csv")


def examine(player, file=FILE):
    """Yield "all" and the name of each kind of positions, with the share as text."""
    rows = list(csv.DictReader(file.read_text("utf-8").splitlines()))
    lines = [tuple(int(number) - 1 for number in row["moves"]) for row in rows]
    names = [name for name in rows[0] if name[1:].isdigit()]  # s1, s2 and so on
    values = np.sign([[float(row[name] or "nan") for name in names] for row in rows])
    states = replay(player.env_id, lines)  # the value of an illegal move is NaN
    if not np.array_equal(states.legal_action_mask, values > -2):
        raise jax_ttt.Refused(f"{file} has other moves than {player.env_id}")
    moves = player.moves(lines, states, jax.random.key(0))
    keeps = values[np.arange(len(rows)), moves] == np.nanmax(values, axis=1)
    for kind in ("all", *sorted({row["kind"] for row in rows})):
        kept = keeps[[kind in ("all", row["kind"]) for row in rows]]
        low, high = wilson_interval(kept.sum(), len(kept))
        yield kind, f"{kept.mean():.1%} ({low:.1%} to {high:.1%})"


if __name__ == "__main__":
    name, env_id = [*(sys.argv[1:] or sys.exit(__doc__)), "connect_7x6"][:2]
    try:
        player = jax_ttt.player(name, env_id=env_id)
        print(dict(examine(player, *map(Path, sys.argv[3:]))))
    except (OSError, ValueError, LookupError, TypeError) as error:
        sys.exit(f"error: {type(error).__name__}: {error}")
