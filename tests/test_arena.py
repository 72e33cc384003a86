"""The command `arena`."""

import csv
import json
import xml.etree.ElementTree as ET

import commands
import pytest
import tiny

from jax_ttt import arena
from jax_ttt.files import records


@pytest.fixture(scope="module")
def agent_path(tmp_path_factory):
    return tiny.save_untrained(tmp_path_factory.mktemp("arena") / "agent.safetensors")


def run(argv, capsys):
    assert commands.run(arena, [str(arg) for arg in argv]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_the_table_and_the_order(agent_path, capsys):
    out = run(["random", "minimax", agent_path], capsys)
    lines = out.splitlines()
    assert lines[0].startswith("tic_tac_toe on ")
    assert "row as X, column as O" in lines[2]
    assert lines[4].split()[:4] == [
        *("1", "random"),
        "58.5/12.7/28.8",
        "0.0/22.3/77.7",
    ]
    assert lines[5].split()[:4] == ["2", "minimax", "96.8/3.2/0.0", "0.0/100.0/0.0"]
    assert "intervals" not in out  # nothing is sampled
    assert "\nElo-like order" in out
    assert out.rpartition("\n 1. ")[2].splitlines()[0].endswith("  minimax")
    assert max(len(line) for line in out.splitlines() if "/agent." not in line) <= 100


def test_json_and_csv_hold_the_same(tmp_path, capsys):
    path = tmp_path / "table.csv"
    flags = ["random", "mcts-online:5", "--games", "64", "--json", "--csv", path]
    assert commands.run(arena, [str(flag) for flag in flags]) == 0
    out, err = capsys.readouterr()
    assert err == f"wrote {path}: 4 rows\n"
    about = json.loads(out)
    assert {row["player"] for row in about["ranking"]} == {"random", "mcts-online:5"}
    assert [pair["num_games"] for pair in about["pairs"]] == [0, 64, 64, 64]
    assert about["pairs"][0]["win_rate"] == pytest.approx(737 / 1260, abs=1e-12)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    flat = [records.flattened(pair, "_") for pair in about["pairs"]]
    assert [{k: str(v) for k, v in pair.items()} for pair in flat] == rows
    assert {"first", "second", "win_rate", "win_rate_interval_low"} < rows[0].keys()


def test_sampled_pairs_are_marked_with_their_intervals(capsys):
    out = run(["random", "mcts-online:5", "--games", "64"], capsys)
    assert out.count("~ 1 vs. 2, 64 games: X wins ") == 1
    row = out.splitlines()[4]
    assert row.split()[2] == "58.5/12.7/28.8"
    assert row.split()[3].startswith("~")


def test_the_heat_map_is_an_svg_with_every_cell(tmp_path, capsys):
    path = tmp_path / "table.svg"
    out = run(["random", "minimax", "--svg", path], capsys)
    assert out.endswith(f"\nwrote {path}\n")
    text = "".join(ET.parse(path).getroot().itertext())
    for cell in ("58.5", "77.7", "96.8", "random", "minimax", "plays X", "plays O"):
        assert cell in text
    first = path.read_bytes()
    run(["random", "minimax", "--svg", path], capsys)
    assert path.read_bytes() == first


def refuse(argv, capsys):
    assert commands.run(arena, [str(arg) for arg in argv]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err


@pytest.mark.slow
def test_the_game_is_that_of_the_agents(agent_path, tmp_path, capsys):
    path = tmp_path / "agent.safetensors"
    tiny.save_untrained(path, env_id="connect_four")
    out = run(["random", f"blend:0.5:{path}", "--games", "8"], capsys)
    assert out.startswith("connect_four on ")
    assert "minimax: needs an enumerable game" in refuse([path, "minimax"], capsys)
    refusal = refuse([path, agent_path], capsys)
    assert f"{agent_path}: made for tic_tac_toe, but {path} for connect" in refusal


def test_a_missing_package_is_named(monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    err = refuse(["random", "--svg", "x.svg"], capsys)
    assert "--svg needs matplotlib, which is not installed: pip install" in err
