"""The command `bench`: its flags, its output, and one run of each part."""

import json
import types
from typing import get_args

import commands
import pytest
import tiny

from jax_ttt import cli
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.shared_flags import MachineFlags
from tools import bench
from tools.benchmarks import gpu, growth, processes, speed, startup, updates


@pytest.fixture
def smallest(monkeypatch):
    """Measure the smallest sizes of each part, with the tests' compiled programs."""
    set_up = cli.set_up_device
    monkeypatch.setattr(cli, "set_up_device", lambda _: set_up(MachineFlags()))
    for name in ("default", "article"):
        small = PRESETS[name].replace(num_envs=8, hidden_size=8)
        monkeypatch.setitem(PRESETS, name, small)
    monkeypatch.setitem(PRESETS, "table", PRESETS["table"].replace(num_updates=50))
    for name in ("NUM_ENVS", "HIDDEN_SIZES", "NUM_SEEDS"):
        monkeypatch.setattr(growth, name, (8,))
    monkeypatch.setattr(growth, "ROUNDS", 1)
    monkeypatch.setattr(speed, "NUM_ENVS", 8)
    monkeypatch.setattr(speed, "NUM_GAMES", 2**14)
    monkeypatch.setattr(updates, "NUM_PRODUCTS", 2)
    monkeypatch.setattr(startup, "COMMANDS", {})
    jobs = {name: gpu.JOBS[name] for name in ("train_cold", "sweep_table")}
    monkeypatch.setattr(gpu, "JOBS", jobs)
    monkeypatch.setattr(gpu, "QUICK_LIMIT", 600)  # a loaded machine may take long

    def run_module(module, args, *others, **options):
        flags = tiny.flags() if module == "jax_ttt.train" else []
        return processes.run_module(module, [*args, *flags], *others, **options)

    shorter_processes = types.SimpleNamespace(
        Child=processes.Child, run_module=run_module
    )
    monkeypatch.setattr(startup, "processes", shorter_processes)


@pytest.mark.slow
def test_every_part_runs(smallest, tmp_path):
    file, svg = tmp_path / "figures.json", tmp_path / "growth.svg"
    few = ["--quick", "--presets", "table", "--num-seeds", "1", "--rounds", "1"]
    flags = [*few, "--json", "--out", str(file), "--svg", str(svg), "--only"]
    flags += get_args(bench.Part)
    printed = commands.run(bench, *flags)
    results = json.loads(file.read_text("utf-8"))
    assert json.loads(printed.out) == results  # and nothing else
    figures = results["parts"]
    assert figures.keys() == {*get_args(bench.Part)}
    assert figures["tabular"]["games"] == 14_016
    assert figures["proof"]["table"]["num_seeds"] == 1
    assert figures["growth"].keys() == {"num_envs", "hidden_size", "num_seeds"}
    per_game = figures["arena"]["sampled"]
    moves = per_game["median"] * per_game["wall_seconds"] / 2**14
    assert moves == pytest.approx(7.63, abs=0.05)  # moves of a random game
    assert {"training_cold", "training_warm"} <= figures["startup"].keys()
    training, sweep = figures["gpu"]["commands"].values()
    assert training["updates"] == 4
    moves = training["moves_per_second"] * training["training_seconds"]
    assert moves == pytest.approx(4 * 8)
    assert (sweep["num_agents"], sweep["finished"]) == (2, 2)
    assert 0 <= sweep["proven"] <= 2
    assert "</svg>" in svg.read_text("utf-8")


def test_ctrl_c_keeps_the_parts_that_are_finished(monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    measured = {"steps": lambda: {"games": 3}, "arena": interrupt}
    monkeypatch.setattr(bench, "parts", lambda args: measured)
    printed = commands.run(bench, "--json", code=130)
    assert json.loads(printed.out)["parts"] == {"steps": {"games": 3}}
