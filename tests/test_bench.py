"""The benchmark compares like with like, and counts a proof only if it stays."""

import json
import subprocess
import sys
from typing import get_args

import jax
import pytest

from jax_ttt import bench
from jax_ttt.benchmarks import (
    startup,
)
from jax_ttt.config.presets import PRESETS


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        ("--num-seeds 0", ["--num-seeds", "from 1 to 65,536", "got 0"]),
        ("--rounds 0", ["--rounds", "from 1 to 1,000", "got 0"]),
        ("--first-seed -1", ["--first-seed", "got -1"]),
        ("--first-seed 4294967295", ["at most 4,294,967,288", "got 4294967295"]),
        ("--only all", ["'all'", *get_args(bench.Part)]),
        ("--presets best", ["'best'", "default", "article", "table"]),
        ("--json no/such/file", ["--json", "no folder no/such"]),
        ("--svg no/such/file", ["--svg", "no folder no/such"]),
        ("--only proof --svg a.svg", ["--svg", "growth", "--only"]),
    ],
)
def test_bad_flags_are_refused(flags, named, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bench, "parts", None)  # nothing is measured
    try:
        code = bench.main(flags.split())
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert not [words for words in named if words not in err], err


def test_flags_are_read_without_jax():
    code = "import sys, jax_ttt.bench; sys.exit('jax' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_parts_that_are_finished_outlive_ctrl_c(monkeypatch, tmp_path, capsys):
    def interrupt():
        raise KeyboardInterrupt

    runs = {"updates": lambda: {"ratio": 3}, "proof": interrupt, "steps": interrupt}
    monkeypatch.setattr(bench, "parts", lambda args: runs)
    file = tmp_path / "figures.json"
    assert bench.main(["--json", str(file)]) == 130
    figures = json.loads(file.read_text(encoding="utf-8"))
    assert figures["parts"] == {"updates": {"ratio": 3}}
    assert "interrupted" in capsys.readouterr().err


def test_a_part_prints_its_figures_and_writes_them(
    small, monkeypatch, tmp_path, capsys
):
    monkeypatch.setitem(PRESETS, "default", small)
    file = tmp_path / "figures.json"
    flags = ["--only", "evaluation", "--quick", "--json", str(file)]
    assert bench.main(flags) == 0
    out = capsys.readouterr().out
    assert "device: cpu" in out
    assert "\nexact evaluation " in out
    figures = json.loads(file.read_text(encoding="utf-8"))
    assert figures["device"].startswith("cpu")
    assert f"jax {jax.__version__}" in figures["versions"]
    assert figures["quick"] is True
    assert figures["parts"].keys() == {"evaluation"}
    row = figures["parts"]["evaluation"]["exact"]
    assert row["unit"] == "ms"
    assert 0 < row["min"] <= row["median"] <= row["max"]
    assert row["cpu_seconds"] > 0


@pytest.mark.slow
@pytest.mark.usefixtures("optimized")
def test_every_part_runs(tmp_path):
    file, svg = tmp_path / "figures.json", tmp_path / "growth.svg"
    flags = ["--presets", "table", "--json", str(file), "--svg", str(svg)]
    assert bench.main(["--quick", *flags]) == 0
    figures = json.loads(file.read_text(encoding="utf-8"))["parts"]
    assert figures.keys() == set(get_args(bench.Part)) - {"openspiel"}
    assert figures["tabular"]["games"] == 14_016
    cold, warm = (figures["startup"][cache]["compile"] for cache in ("cold", "warm"))
    assert warm["median"] < cold["median"] / 2
    parts = figures["startup"]["cold"]
    assert parts.keys() == {*startup.PARTS, "peak_memory"}
    assert parts["compile"]["median"] > parts["write"]["median"] > 0
