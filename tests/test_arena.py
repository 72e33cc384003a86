"""The command `arena`."""

import csv
import itertools
import json

import pytest

from jax_ttt import arena


@pytest.mark.slow
def test_sampled_pairs_are_in_the_table_in_json_and_in_csv(tmp_path, run_command):
    path = tmp_path / "table.csv"
    flags = ["random", "mcts-online:5", "--games", "64", "--csv", path]
    out, _ = run_command(arena, *flags)
    lines = [line.split() for line in out.splitlines()]
    (interval,) = [cells for cells in lines if cells[:4] == ["~", "1", "vs.", "2"]]
    assert interval[-1] == "64"
    (random,) = [cells for cells in lines if cells[:2] == ["1", "random"]]
    assert random[2] == "58.5/12.7/28.8"
    assert random[3].startswith("~")
    assert out.endswith(f"\nwrote {path}: 4 rows\n")
    out, err = run_command(arena, *flags, "--json")
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
