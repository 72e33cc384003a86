"""The part `gpu` of the benchmark: whole commands in processes with time limits."""

import contextlib
import json
import time

import commands
import made
import pytest

from jax_ttt.config.presets import PRESETS
from jax_ttt.files import sweep_file
from jax_ttt.files.sweep_file import Sweep
from tools import bench
from tools.benchmarks import gpu, processes
from tools.benchmarks.gpu import Job

ENDLESS = """
import pathlib, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("warning: no number of anything")
pathlib.Path("seen").touch()
print("8 of 9 agents finished; 6 agent-updates/s", flush=True)
while True:
    time.sleep(1)
"""
"""A program that never ends; its first words are late, as its output is a file."""


@pytest.fixture
def endless(tmp_path, monkeypatch):
    """Return the name of a module that never ends, and a folder for it."""
    (tmp_path / "endless.py").write_text(ENDLESS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    folder = tmp_path / "work"
    folder.mkdir()
    return "endless", folder


def test_a_program_that_never_ends_is_killed_at_its_limit(endless):
    module, folder = endless
    events = {
        "progress": gpu.shows_progress,
        "file": lambda folder, output: (folder / "seen").exists(),
        "never": lambda folder, output: False,
    }
    begin = time.monotonic()
    watched = processes.watch_module(module, [], folder, folder, 2, events)
    assert 2 <= watched.seconds < 10
    assert time.monotonic() - begin < 12  # and nothing waits for it
    assert watched.code is None
    assert watched.moments.keys() == {"progress", "file"}
    assert all(0 < seconds < 2 for seconds in watched.moments.values())
    assert watched.output.endswith(" agent-updates/s\n")


def test_an_unfinished_command_and_a_failed_one_have_no_seconds(
    endless, monkeypatch, capsys
):
    jobs = {
        "slow": Job(module="endless", quick="", limit=1),
        "wrong": Job(module="jax_ttt.runs", words="--nonsense", quick="", limit=60),
    }
    monkeypatch.setattr(gpu, "JOBS", jobs)
    slow, wrong = gpu.measure_gpu(quick=False)["commands"].values()
    assert (slow["seconds"], slow["limit_seconds"]) == (None, 1)
    assert wrong["seconds"] is None
    assert "--nonsense" in wrong["error"]
    out, err = capsys.readouterr()
    assert "slow                not finished after 1 s\n" in out
    assert "wrong               failed\n" in out
    assert "--nonsense" in err


@pytest.mark.parametrize("size", ["full", "quick"])
@pytest.mark.parametrize("job", gpu.JOBS.values(), ids=gpu.JOBS)
def test_the_commands_take_their_words(job, size):
    command = commands.module_of(job.module.removeprefix("jax_ttt."))
    args = commands.parse(command, f"{job.words} {getattr(job, size)}".split())
    if size == "quick":
        assert args.config.run.num_envs * args.config.run.num_updates == 32


def test_the_limits_leave_time_for_the_benchmark_itself_within_four_minutes():
    assert sum(job.limit for job in gpu.JOBS.values()) <= 225


def test_without_an_accelerator_one_line_says_that_it_needs_one(capsys):
    assert commands.run(bench, ["--only", "gpu", "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "--only gpu needs an accelerator, and this is cpu" in err


def test_the_figures_of_an_unfinished_sweep(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert gpu.sweep_figures(tmp_path, {}) == {}
    sweep = Sweep(
        config=PRESETS["table"], preset="table", grid=(), first_seed=7, num_seeds=4096
    )
    with contextlib.closing(sweep_file.make_sweep_file(sweep)) as file:
        assert not gpu.has_rows(tmp_path, "")
        for seed, unbeatable in ((7, True), (8, False)):
            grade = made.exact((1.0, 0.0), (0.75, 0.25), unbeatable)
            file.add([(0, made.agent(seed, grade))])
            assert gpu.has_rows(tmp_path, "")
    row = gpu.sweep_figures(tmp_path, {"first_progress": 3.14})
    assert row == {
        "first_progress_seconds": 3.14,
        "first_rows_seconds": None,
        "num_agents": 4096,
        "finished": 2,
        "proven": 1,
    }
    assert gpu.figures_text({"seconds": None, "limit_seconds": 40} | row) == (
        "not finished after 40 s, first progress after 3.14 s, 2 of 4,096 agents, "
        "1 proven"
    )


@pytest.mark.slow
def test_the_quick_size_runs_on_a_cpu(tmp_path, capsys):
    file = tmp_path / "gpu.json"
    flags = ["--only", "gpu", "--quick", "--json", "--out", str(file)]
    assert commands.run(bench, flags) == 0
    results = json.loads(file.read_text("utf-8"))
    assert json.loads(capsys.readouterr().out) == results
    rows = results["parts"]["gpu"]["commands"]
    assert rows.keys() == gpu.JOBS.keys()
    for name, row in rows.items():
        assert row["seconds"] is not None, row
        if name.startswith("sweep"):
            rows_seconds = row["first_rows_seconds"]
            assert 0 < rows_seconds <= row["seconds"]
            # Such a short sweep may end before it shows anything.
            progress = row["first_progress_seconds"]
            assert progress is None or 0 < progress <= row["seconds"]
            assert (row["num_agents"], row["finished"]) == (2, 2)
            assert 0 <= row["proven"] <= 2
        else:
            assert row["updates"] == 4
            moves = row["moves_per_second"] * row["training_seconds"]
            assert moves == pytest.approx(4 * 8)
    assert rows["train_warm"]["seconds"] < rows["train_cold"]["seconds"]
