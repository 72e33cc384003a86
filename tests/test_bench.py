"""The benchmark compares like with like, and counts a proof only if it stays."""

import io
import json
import subprocess
import sys
from typing import get_args

import jax
import pytest

from jax_ttt import bench, cli
from jax_ttt.benchmarks import openspiel as learners
from jax_ttt.benchmarks import startup, time_to_proof
from jax_ttt.benchmarks.progress import say
from jax_ttt.config.presets import PRESETS


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        ("--num-seeds 0", ["--num-seeds", "from 1 to 65,536", "got 0"]),
        ("--rounds 0", ["--rounds", "from 1 to 1,000", "got 0"]),
        ("--first-seed -1", ["--first-seed", "got -1"]),
        ("--first-seed 4294967295", ["at most 4,294,967,232", "got 4294967295"]),
        ("--only all", ["'all'", *get_args(bench.Part)]),
        ("--presets best", ["'best'", "default", "article", "table"]),
        ("--out no/such/file", ["--out", "no folder no/such"]),
        ("--json file", ["file"]),
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
    assert bench.main(["--out", str(file)]) == 130
    figures = json.loads(file.read_text(encoding="utf-8"))
    assert figures["parts"] == {"updates": {"ratio": 3}}
    out, err = capsys.readouterr()
    assert out.endswith(f"\nwrote {file}\n")
    assert "interrupted" in err


def test_json_is_one_object_and_nothing_else(monkeypatch, tmp_path, capsys):
    def steps():
        print("a line")
        say("and another")
        return {"ratio": 3}

    monkeypatch.setattr(bench, "parts", lambda args: {"steps": steps})
    file = tmp_path / "figures.json"
    assert bench.main(["--json", "--quick", "--out", str(file)]) == 0
    out, err = capsys.readouterr()
    assert err == f"wrote {file}\n"
    assert out.count("\n") == 1
    assert json.loads(out) == json.loads(file.read_text(encoding="utf-8"))
    assert json.loads(out)["parts"] == {"steps": {"ratio": 3}}


@pytest.mark.slow
def test_a_part_prints_its_figures_and_writes_them(
    small, monkeypatch, tmp_path, capsys
):
    monkeypatch.setitem(PRESETS, "default", small)
    file = tmp_path / "figures.json"
    flags = ["--only", "evaluation", "--quick", "--out", str(file)]
    assert bench.main(flags) == 0
    out = capsys.readouterr().out
    assert "device: cpu" in out
    assert "\nprecision: float32 (auto)\n" in out
    assert "\nexact evaluation " in out
    figures = json.loads(file.read_text(encoding="utf-8"))
    assert figures["device"].startswith("cpu")
    assert figures["precision"] == "float32 (auto)"
    assert f"jax {jax.__version__}" in figures["versions"]
    assert figures["quick"] is True
    assert figures["parts"].keys() == {"evaluation"}
    row = figures["parts"]["evaluation"]["exact"]
    assert row["unit"] == "ms"
    assert 0 < row["min"] <= row["median"] <= row["max"]
    assert row["cpu_seconds"] > 0


@pytest.mark.parametrize(
    ("flags", "default", "article", "table", "openspiel"),
    [
        ([], 64, 2, 16, 2),
        (["--num-seeds", "1000"], 1000, 1000, 1000, 1000),
        (["--quick"], 2, 2, 2, 2),
        (["--quick", "--num-seeds", "1"], 1, 1, 1, 1),
    ],
)
def test_what_trains_for_long_trains_fewer_agents_unless_it_is_told(
    flags, default, article, table, openspiel, monkeypatch
):
    asked = []
    for module, name in (
        (time_to_proof, "measure_proof"),
        (time_to_proof, "measure_ceiling"),
        (learners, "measure_openspiel"),
    ):
        monkeypatch.setattr(module, name, lambda seeds, *_: asked.append(seeds) or {})
    args = bench.checked_parts(cli.parse(bench.Args, flags, "bench"))
    parts = bench.parts(args)
    for part in ("proof", "ceiling", "openspiel"):
        parts[part]()

    def seeds(count):
        return range(1000, 1000 + count)

    assert asked == [
        dict(zip(args.presets, map(seeds, (default, article, table)), strict=True)),
        seeds(default),
        seeds(openspiel),
        dict.fromkeys(bench.OURS, seeds(openspiel)),
    ]


def test_a_bar_names_the_part_that_runs_and_output_has_none_of_it(monkeypatch, capsys):
    drawn = io.StringIO()
    monkeypatch.setattr(drawn, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", drawn)
    seen = []

    def part():
        seen.append(drawn.getvalue())
        return {}

    parts = dict.fromkeys(("steps", "arena"), part)
    monkeypatch.setattr(bench, "parts", lambda args: parts)
    assert bench.main(["--only", "arena", "steps"]) == 0
    first, second = seen
    assert "steps" in first
    assert "arena" not in first
    assert "arena" in second.removeprefix(first)
    out = capsys.readouterr().out
    assert out.endswith("\n\nsteps\n\narena\n")
    assert "part" not in out


@pytest.mark.slow
def test_every_part_runs(monkeypatch, tmp_path):
    # Optimize only the commands that are timed: they take most of the time.
    monkeypatch.setenv("JAX_DISABLE_MOST_OPTIMIZATIONS", "False")
    file, svg = tmp_path / "figures.json", tmp_path / "growth.svg"
    few = ["--quick", "--presets", "table", "--rounds", "1"]
    assert bench.main([*few, "--out", str(file), "--svg", str(svg)]) == 0
    figures = json.loads(file.read_text(encoding="utf-8"))["parts"]
    assert figures.keys() == set(get_args(bench.Part)) - set(bench.SWEEPS)
    assert figures["tabular"]["games"] == 14_016
    cold, warm = (figures["startup"][cache]["compile"] for cache in ("cold", "warm"))
    assert warm["median"] < cold["median"] / 2
    parts = figures["startup"]["cold"]
    assert parts.keys() == {*startup.PARTS, "peak_memory"}
    assert parts["compile"]["median"] > parts["write"]["median"] > 0
