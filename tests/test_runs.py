"""The command `runs`."""

import json
from typing import Any

import commands
import made

from jax_ttt import runs
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


def test_json_is_one_object(tmp_path, capsys):
    config = {"config": {}, "preset": "plain", "seed": 1}
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "config.json").write_text(json.dumps(config))
    (tmp_path / "one" / "metrics.jsonl").write_text("")
    assert commands.run(runs, [str(tmp_path), "--json"]) == 0
    out, err = capsys.readouterr()
    assert (err, out.count("\n")) == ("", 1)
    (run,) = json.loads(out)["runs"]
    assert run["run_dir"] == str(tmp_path / "one")
    assert (run["seed"], run["preset"], run["saved"]) == (1, "plain", False)


def test_without_a_run_it_says_how_to_train_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert commands.run(runs, []) == 0
    assert capsys.readouterr().out == (
        "no run below runs/: train one with python -m jax_ttt.train\n"
    )
    assert commands.run(runs, ["--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"runs": []}
