"""What a run writes to its folder, and what it removes to continue."""

import dataclasses
import itertools
import json
import os
from pathlib import Path

import made
import pytest

from jax_ttt.config.errors import Refused
from jax_ttt.config.settings import Config
from jax_ttt.files import json_records, run_folder
from jax_ttt.files.run_folder import (
    Plan,
    RunFolder,
    read_settings,
    snapshots_in,
)
from jax_ttt.training import recorder as recording
from jax_ttt.training import reproducibility
from jax_ttt.training.recorder import MAX_SNAPSHOTS, Recorder

PLAN = Plan(config=Config.of(tau=0.25), preset="default", seed=7)


@pytest.fixture
def run(tmp_path):
    return RunFolder(tmp_path / "run")


@pytest.mark.fault
def test_one_process_at_a_time_writes_and_removes_what_killed_ones_left(run):
    run.snapshots.mkdir(parents=True)
    left = (".agent.safetensors.77.tmp", "snapshots/.00002.safetensors.77.tmp")
    for name in (*left, "mine.tmp", ".mine"):
        (run.path / name).touch()
    first = Recorder(run, PLAN, save_every=0.0, keep=2)
    with pytest.raises(OSError, match=f"in use by process {os.getpid()}"):
        Recorder(run, PLAN, save_every=0.0, keep=2)
    first.close()
    assert sorted(os.listdir(run.path)) == [".mine", "mine.tmp", "snapshots"]
    assert os.listdir(run.snapshots) == []


def test_a_run_that_cannot_be_continued_is_replaced(run, capsys):
    before = Recorder(run, dataclasses.replace(PLAN, seed=6), save_every=0.0, keep=2)
    before.begin()
    before.close()
    run.metrics.write_text(f"{json_records.to_json(made.evaluated(0))}\n")
    run.snapshots.mkdir()
    run.snapshot(2).touch()
    (run.path / "notes.txt").touch()
    assert capsys.readouterr().err == ""
    recorder = Recorder(run, PLAN, save_every=0.0, keep=2)
    recorder.begin()
    recorder.close()
    assert capsys.readouterr().err == (
        f"replacing the run in {run.path}: it left neither an agent nor a checkpoint\n"
    )
    assert run.files() == ["config.json", "notes.txt", "snapshots"]
    assert snapshots_in(run.snapshots) == {}
    plan = read_settings(run.config)
    assert plan.config == PLAN.config
    assert (plan.preset, plan.seed) == ("default", 7)
    config = json.loads(run.config.read_text())
    environment = reproducibility.describe_environment()
    assert environment.items() <= config.items()
    assert plan.random_numbers == environment["random_numbers"]
    assert "files" not in config, "it names none"


@pytest.mark.fault
def test_a_folder_that_no_run_can_use_is_refused_with_the_reason(tmp_path):
    (tmp_path / "file").touch()
    for name in ("file", "file/below", "x" * 300):
        with pytest.raises(OSError, match=r"exists|Not a directory|too long"):
            Recorder(RunFolder(tmp_path / name), PLAN, save_every=0.0, keep=2)
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs/config.json").write_text("{}")
    recorder = Recorder(RunFolder(tmp_path / "theirs"), PLAN, save_every=0.0, keep=2)
    with pytest.raises(Refused, match=r"config\.json exists"):
        recorder.begin()
    recorder.close()
    assert (tmp_path / "theirs/config.json").read_text() == "{}"


@pytest.mark.parametrize("num_evaluations", [1, 31, 32, 63, 64, 1000])
@pytest.mark.parametrize("more_updates", [0, 3])
def test_snapshots_of_a_long_run_have_equal_distances_and_the_last_one_stays(
    num_evaluations, more_updates
):
    num_updates = 10 * num_evaluations + more_updates
    config = Config.of(eval_every=10, num_updates=num_updates)
    updates = sorted({*range(0, num_updates + 1, 10), num_updates})
    kept = [n for n in updates if recording.is_snapshot_kept(config, n)]
    assert kept[0] == 0
    assert kept[-1] == num_updates
    assert len(kept) <= MAX_SNAPSHOTS + 1
    assert kept == updates or len(kept) > MAX_SNAPSHOTS // 2
    distances = {later - update for update, later in itertools.pairwise(kept[:-1])}
    assert len(distances) <= 1


def test_two_new_runs_have_two_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    paths = {run_folder.make_new(Path.mkdir, "default-seed7") for _ in range(3)}
    assert len(paths) == 3
    assert all(path.is_dir() and "-default-seed7" in path.name for path in paths)
