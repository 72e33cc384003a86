"""The command `runs`."""

import json
from typing import Any

import commands
import made
import pytest

from jax_ttt import runs
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


def test_json_is_one_object(tmp_path, capsys):
    config = {"version": 3, "config": {}, "preset": "plain", "seed": 1}
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "config.json").write_text(json.dumps(config))
    (tmp_path / "one" / "metrics.jsonl").write_text("")
    assert commands.run(runs, [str(tmp_path), "--json"]) == 0
    out, err = capsys.readouterr()
    assert (err, out.count("\n")) == ("", 1)
    (run,) = json.loads(out)["runs"]
    assert run["run_dir"] == str(tmp_path / "one")
    assert (run["seed"], run["preset"], run["saved"]) == (1, "plain", False)


def test_runs_of_unknown_games_are_counted(tmp_path, capsys):
    for number in range(3):
        path = tmp_path / f"run{number}" / "config.json"
        path.parent.mkdir()
        config = {"env_id": "chess_of_mine"} if number else {}
        record = {"version": 3, "config": config, "preset": "plain", "seed": 1}
        path.write_text(json.dumps(record))
        (path.parent / "metrics.jsonl").write_text("")
    assert commands.run(runs, [str(tmp_path), "--json"]) == 0
    out, err = capsys.readouterr()
    assert len(json.loads(out)["runs"]) == 1
    assert err.startswith("2 runs can't be read, for instance ")
    assert err.count("\n") == 1
    assert "'chess_of_mine'" in err
    assert "by --rules FILE" in err


def test_without_a_run_that_can_be_read_it_does_not_advise_to_train(tmp_path, capsys):
    path = tmp_path / "run" / "config.json"
    path.parent.mkdir()
    config = {"env_id": "chess_of_mine"}
    record = {"version": 3, "config": config, "preset": "plain", "seed": 1}
    path.write_text(json.dumps(record))
    assert commands.run(runs, [str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    reason = "made for 'chess_of_mine', a game that is not registered"
    assert out == ""
    assert err.startswith(f"1 run can't be read: {path}: {reason}; name the file")


@pytest.mark.parametrize("line", ["no JSON", '{"event": "evaluated"}'])
def test_runs_with_damaged_metrics_are_counted(tmp_path, capsys, line):
    record = {"version": 3, "config": {}, "preset": "plain", "seed": 1}
    for name, text in (("good", ""), ("bad", f"{line}\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps(record))
        (tmp_path / name / "metrics.jsonl").write_text(text)
    assert commands.run(runs, [str(tmp_path), "--json"]) == 0
    out, err = capsys.readouterr()
    (run,) = json.loads(out)["runs"]
    assert run["run_dir"] == str(tmp_path / "good")
    metrics = tmp_path / "bad" / "metrics.jsonl"
    assert err.startswith(f"1 run can't be read: {metrics}: ")
    assert err.count("\n") == 1


def test_a_run_without_a_row_yet_is_listed(tmp_path, capsys):
    """Its first row comes after compilation."""
    record = {"version": 3, "config": {}, "preset": "plain", "seed": 1}
    (tmp_path / "config.json").write_text(json.dumps(record))
    assert commands.run(runs, [str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert str(tmp_path) in out
    assert err == ""


def test_without_a_run_it_says_how_to_train_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert commands.run(runs, []) == 0
    assert capsys.readouterr().out == (
        "no run below runs/: train one with python -m jax_ttt.train\n"
    )
    assert commands.run(runs, ["--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"runs": []}
