"""The table of the command `runs`."""

from typing import Any

import made
import pytest

from jax_ttt.files.json_records import to_dict
from jax_ttt.files.run_folder import RunSummary
from jax_ttt.text import summary_tables


def summary(**fields):
    default: dict[str, Any] = {"run_dir": "runs/a", "env_id": "tic_tac_toe"}
    default |= {"preset": "default", "seed": 1, "saved": True}
    return RunSummary(**default | fields)


def test_the_table_has_the_game_if_it_differs(snapshot):
    proven = made.exact((0.9556,), (0.9556,), unbeatable=True)
    beatable = made.exact((0.75,), (0.25,))
    of_one_game = [
        summary(update=4, seconds=0.79, grade=proven),
        summary(seed=1000, preset="table", grade=beatable, seconds=123.4),
        summary(run_dir="runs/b", saved=False),
    ]
    of_two_games = [*of_one_game, summary(env_id="hex")]
    tables = map(summary_tables.runs_table, (of_one_game, of_two_games))
    assert "\n\n".join(tables) == snapshot


def test_a_run_has_the_mean_win_rate_of_its_seats():
    proven = made.exact((0.99,), (0.91,), unbeatable=True)
    assert to_dict(summary(grade=proven))["win_rate"] == pytest.approx(0.95)
    assert "win_rate" not in to_dict(summary())
