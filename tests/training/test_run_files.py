"""What a run writes to its folder, and what it removes to continue."""

import dataclasses
import itertools
import json
import os

import made
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.files import json_records
from jax_ttt.files.run_folder import Plan, RunFolder, read_settings, snapshots_in
from jax_ttt.training import recorder as recording
from jax_ttt.training import reproducibility
from jax_ttt.training.recorder import MAX_SNAPSHOTS, Recorder

PLAN = Plan(config=Config.of(tau=0.25), preset="default", seed=7)


@pytest.fixture
def run(tmp_path):
    return RunFolder(tmp_path / "run")


@pytest.mark.fault
def test_a_run_removes_what_killed_ones_left(run):
    run.snapshots.mkdir(parents=True)
    left = (".agent.safetensors.77.tmp", "snapshots/.00002.safetensors.77.tmp")
    for name in (*left, "mine.tmp", ".mine"):
        (run.path / name).touch()
    Recorder(run, PLAN, save_every=0.0, keep=2).close()
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
