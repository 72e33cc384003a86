"""The command `runs`."""

import json
from typing import Any

import commands
import made
import pytest

from jax_ttt import runs
from jax_ttt.files.run_folder import RunSummary


def summary(**fields):
    about: dict[str, Any] = {"run_dir": "runs/a", "env_id": "tic_tac_toe"}
    about |= {"preset": "default", "seed": 1, "saved": True}
    return RunSummary(**about | fields)


def test_the_table(snapshot):
    proven = made.exact((0.9556,), (0.9556,), unbeatable=True)
    beatable = made.exact((0.75,), (0.25,))
    found = [
        summary(update=4, seconds=0.79, grade=proven),
        summary(seed=1000, preset="table", grade=beatable, seconds=123.4),
        summary(run_dir="runs/b", saved=False),
    ]
    of_games = [*found, summary(env_id="hex")]
    tables = runs.runs_table(found), runs.runs_table(of_games)
    assert "\n\n".join(tables) == snapshot


def test_json_is_one_object(tmp_path, capsys):
    about = {"config": {}, "preset": "plain", "seed": 1}
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "config.json").write_text(json.dumps(about))
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


@pytest.mark.parametrize("name", ["nowhere", "a-file"])
def test_a_folder_that_is_none_is_refused(name, tmp_path, capsys):
    (tmp_path / "a-file").write_text("")
    assert commands.run(runs, [str(tmp_path / name)]) == 2
    assert capsys.readouterr().err == f"error: {tmp_path / name}: no such folder\n"
