"""The command `bench`: its flags, its output, and one run of each part."""

import json
from typing import get_args

import pytest

from tools import bench
from tools.benchmarks import startup


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        ("--num-seeds 0", ["--num-seeds", "from 1 to 65,536", "got 0"]),
        ("--presets best", ["'best'", "default", "article"]),
        ("--only proof --svg a.svg", ["--svg", "growth", "--only"]),
    ],
)
def test_bad_flags_are_refused_before_any_work(flags, named, monkeypatch, capsys):
    monkeypatch.setattr(bench, "parts", None)  # nothing is measured
    try:
        code = bench.main(flags.split())
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert [text for text in named if text not in err] == []


def test_finished_parts_are_written_after_ctrl_c(monkeypatch, tmp_path, capsys):
    def interrupt():
        raise KeyboardInterrupt

    parts = {"updates": lambda: {"ratio": 3}, "proof": interrupt}
    monkeypatch.setattr(bench, "parts", lambda args: parts)
    file = tmp_path / "figures.json"
    assert bench.main(["--out", str(file)]) == 130
    assert json.loads(file.read_text("utf-8"))["parts"] == {"updates": {"ratio": 3}}
    assert "interrupted" in capsys.readouterr().err


@pytest.mark.slow
def test_every_part_runs(monkeypatch, tmp_path, capsys):
    # Optimize only the commands that are timed: they take most of the time.
    monkeypatch.setenv("JAX_DISABLE_MOST_OPTIMIZATIONS", "False")
    file, svg = tmp_path / "figures.json", tmp_path / "growth.svg"
    few = ["--quick", "--presets", "table", "--rounds", "1", "--json"]
    assert bench.main([*few, "--out", str(file), "--svg", str(svg)]) == 0
    results = json.loads(file.read_text("utf-8"))
    assert json.loads(capsys.readouterr().out) == results  # and nothing else
    figures = results["parts"]
    assert figures.keys() == set(get_args(bench.Part)) - set(bench.SWEEPS)
    assert figures["tabular"]["games"] == 14_016
    assert figures["proof"]["table"]["not_proven"] == []
    assert [row["size"] for row in figures["growth"]["devices"]] == [1, 2]
    per_game = figures["arena"]["sampled"]
    moves = per_game["median"] * per_game["wall_seconds"] / 2**16
    assert moves == pytest.approx(7.63, abs=0.05)  # moves of a random game
    shares = [figures["reach"][part]["median"] for part in ("player", "game")]
    shares.append(figures["reach"]["merging"]["median"])
    assert sum(shares) == pytest.approx(100)
    cold, warm = (figures["startup"][cache]["compile"] for cache in ("cold", "warm"))
    assert warm["median"] < cold["median"] / 2
    assert figures["startup"]["cold"].keys() == {*startup.PARTS, "peak_memory"}
    assert "</svg>" in svg.read_text("utf-8")
