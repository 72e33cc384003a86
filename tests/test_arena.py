"""The command `arena`."""

import csv
import itertools
import json
import xml.etree.ElementTree as ET

import commands
import pytest
import tiny

from jax_ttt import arena


@pytest.fixture(scope="module")
def agent_path(tmp_path_factory):
    return tiny.save_untrained(tmp_path_factory.mktemp("arena") / "agent.safetensors")


def run(capsys, *argv, code=0):
    """Run the command and return its output and its errors."""
    assert commands.run(arena, [str(arg) for arg in argv]) == code
    return capsys.readouterr()


def test_the_table_and_the_order(agent_path, capsys):
    out, err = run(capsys, "random", "minimax", agent_path)
    assert err == ""
    lines = out.splitlines()
    assert lines[0].startswith("tic_tac_toe on ")
    assert lines[2].startswith("Elo-like order")
    assert lines[3].startswith(" 1. ")
    assert lines[3].endswith("  minimax")
    assert "row as X, column as O" in lines[7]
    first = ["1", "random", "58.5/12.7/28.8", "0.0/22.3/77.7"]
    assert lines[9].split()[:4] == first
    assert lines[10].split()[:4] == ["2", "minimax", "96.8/3.2/0.0", "0.0/100.0/0.0"]
    assert "intervals" not in out  # nothing is sampled
    assert max(len(line) for line in lines if "/agent." not in line) <= 80


@pytest.mark.slow
def test_sampled_pairs_are_in_the_table_in_json_and_in_csv(tmp_path, capsys):
    path = tmp_path / "table.csv"
    flags = ["random", "mcts-online:5", "--games", "64", "--csv", path]
    out, err = run(capsys, *flags)
    lines = [line.split() for line in out.splitlines()]
    (interval,) = [cells for cells in lines if cells[:4] == ["~", "1", "vs.", "2"]]
    assert interval[-1] == "64"
    (random,) = [cells for cells in lines if cells[:2] == ["1", "random"]]
    assert random[2] == "58.5/12.7/28.8"
    assert random[3].startswith("~")
    assert (out.splitlines()[-1], err) == (f"wrote {path}: 4 rows", "")
    out, err = run(capsys, *flags, "--json")
    assert err == f"wrote {path}: 4 rows\n"
    result = json.loads(out)
    assert {row["player"] for row in result["ranking"]} == {"random", "mcts-online:5"}
    pairs = result["pairs"]
    assert [pair["num_games"] for pair in pairs] == [0, 64, 64, 64]
    assert pairs[0]["win_rate"] == pytest.approx(737 / 1260, abs=1e-12)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = [(pair["first"], pair["second"]) for pair in pairs]
    assert names == [*itertools.product(result["names"], repeat=2)]
    for row, pair in zip(rows, pairs, strict=True):
        assert (row["first"], row["second"]) == (pair["first"], pair["second"])
        assert row["evidence"] == pair["evidence"]
        assert int(row["num_games"]) == pair["num_games"]
        for place, name in enumerate(("win_rate", "draw_rate", "loss_rate")):
            assert float(row[name]) == pair[name]
            assert float(row[f"{name}_low"]) == pair["low"][place]
            assert float(row[f"{name}_high"]) == pair["high"][place]


@pytest.mark.slow
def test_the_heat_map_is_an_svg_with_every_cell(tmp_path, capsys):
    path = tmp_path / "table.svg"
    out, _ = run(capsys, "random", "minimax", "--svg", path)
    assert out.endswith(f"\nwrote {path}\n")
    text = "".join(ET.parse(path).getroot().itertext())
    for cell in ("58.5", "77.7", "96.8", "random", "minimax", "plays X", "plays O"):
        assert cell in text
    drawn = path.read_bytes()
    run(capsys, "random", "minimax", "--svg", path)
    assert path.read_bytes() == drawn


@pytest.mark.slow
def test_the_game_is_that_of_the_agents(agent_path, tmp_path, capsys):
    path = tiny.save_untrained(tmp_path / "agent.safetensors", env_id="connect_four")
    out, _ = run(capsys, "random", f"blend:0.5:{path}", "--games", "8")
    assert out.startswith("connect_four on ")
    _, err = run(capsys, path, "minimax", code=2)
    assert "minimax: needs an enumerable game" in err
    _, err = run(capsys, path, agent_path, code=2)
    assert f"{agent_path}: made for tic_tac_toe, not for connect_four" in err


def test_a_missing_package_is_named(monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    _, err = run(capsys, "random", "--svg", "x.svg", code=2)
    assert "--svg needs matplotlib, which is not installed: pip install" in err
