"""What a run writes, and what it removes to continue."""

import dataclasses
import itertools
import json
import os

import made
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.files import run_writer
from jax_ttt.files.run_folder import InUseError, Plan, RunFolder, Settings, snapshots_in
from jax_ttt.files.run_writer import MAX_SNAPSHOTS, ConfigFile, RunWriter
from jax_ttt.runtime.atomic_files import WriteError

PLAN = Plan(config=Config.of(tau=0.25), preset="default", seed=7)
ENVIRONMENT = {
    "device": {
        "platform": "cpu",
        "kind": "abacus",
        "platform_version": "1",
        "count": 1,
        "cpu_count": 2,
        "NPROC": None,
    },
    "python": "3",
    "versions": {"jax": "1"},
    "XLA_FLAGS": None,
    "random_numbers": "threefry2x32",
}


@pytest.fixture
def run(tmp_path):
    return RunFolder(tmp_path / "run")


@pytest.fixture
def writer(run):
    writer = RunWriter(run)
    yield writer
    writer.close()


@pytest.fixture
def resume(writer):
    """Return a function that continues from a state after some updates."""

    def resume(update=2, evaluated=0):
        writer.resume(update, evaluated, damaged=())

    return resume


@pytest.fixture
def full_disk(monkeypatch):
    """Let every write that is forced to the disk, or is renamed, fail."""

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    monkeypatch.setattr(os, "replace", fail)


@pytest.mark.fault
def test_one_process_at_a_time_writes_and_removes_what_killed_ones_left(run):
    run.snapshots.mkdir(parents=True)
    left = (".agent.safetensors.77.tmp", "snapshots/.00002.safetensors.77.tmp")
    for name in (*left, "mine.tmp", ".mine"):
        (run.path / name).touch()
    first = RunWriter(run)
    with pytest.raises(InUseError, match=f"in use by process {os.getpid()}"):
        RunWriter(run)
    first.close()
    assert sorted(os.listdir(run.path)) == [".mine", "mine.tmp", "snapshots"]
    assert os.listdir(run.snapshots) == []


def test_a_run_that_cannot_be_continued_is_replaced(writer, run, capsys):
    writer.begin(dataclasses.replace(PLAN, seed=6), ENVIRONMENT)
    writer.write_row(made.evaluated(0))
    writer.save_snapshot(2, b"agent")
    (run.path / "notes.txt").touch()
    assert capsys.readouterr().err == ""
    writer.begin(PLAN, ENVIRONMENT | {"python": "3.99"})
    assert capsys.readouterr().err == (
        f"replacing the run in {run.path}: it left neither an agent nor a checkpoint\n"
    )
    assert run.files() == ["config.json", "notes.txt", "snapshots"]
    assert snapshots_in(run.snapshots) == {}
    assert run.settings() == Settings(
        config=PLAN.config,
        preset="default",
        seed=7,
        random_numbers=ENVIRONMENT["random_numbers"],
    )
    config = json.loads(run.config.read_text())
    names = {field.name for field in dataclasses.fields(ConfigFile)}
    assert config.keys() == names - {"files"}, "it names none"
    assert config["device"] == ENVIRONMENT["device"], "with null where unset"
    assert config["python"] == "3.99"


def test_a_process_that_does_not_write_makes_no_file(run, tmp_path):
    """If several processes train one run, only one of them writes."""
    writer = RunWriter(run, writes=False)
    writer.begin(PLAN, ENVIRONMENT)
    writer.write_row(made.evaluated(0))
    writer.save_agent(b"agent")
    writer.save_snapshot(2, b"agent")
    assert writer.save_checkpoint(2, b"state", keep=2) == run.checkpoint(2)
    writer.resume(2, 0, damaged=[run.checkpoint(4)])
    writer.close()
    assert os.listdir(tmp_path) == []


def test_the_latest_checkpoints_stay_and_no_other_file_is_removed(writer, run):
    others = ["checkpoint-x.safetensors", "checkpoint-3.safetensors.damaged", "mine"]
    for name in others:
        (run.path / name).touch()
    for update in (8, 9, 10, 100):
        path = writer.save_checkpoint(update, b"state", keep=3)
        assert path == run.checkpoint(update) == run.checkpoints()[0]
    assert run.checkpoints() == [run.checkpoint(n) for n in (100, 10, 9)]
    assert set(run.files()) == {*others, *(path.name for path in run.checkpoints())}


@pytest.mark.fault
def test_on_a_full_disk_old_checkpoints_stay_and_a_snapshot_is_left_out(
    writer, run, capsys, request
):
    writer.save_checkpoint(2, b"state", keep=1)
    before = run.checkpoint(2).read_bytes()
    request.getfixturevalue("full_disk")
    with pytest.raises(WriteError, match="No space left"):
        writer.save_checkpoint(9, b"other state", keep=1)
    assert run.files() == ["checkpoint-2.safetensors"]
    assert run.checkpoint(2).read_bytes() == before
    writer.save_snapshot(2, b"agent")
    assert capsys.readouterr().err == (
        f"warning: cannot write {run.snapshot(2)}: No space left on device\n"
    )
    assert os.listdir(run.snapshots) == []


def test_rows_and_snapshots_after_the_checkpoint_are_removed(writer, run, resume):
    """Its last evaluation was the one at update 2, and its last chunk ended at 3."""
    rows = [
        made.evaluated(0),
        made.chunk(2),
        made.evaluated(2),
        made.chunk(3),
        made.evaluated(3),
        made.chunk(4),
        made.evaluated(4),
    ]
    for row in rows:
        writer.write_row(row)
        writer.save_snapshot(row.update, b"agent")
    with run.metrics.open("a") as file:
        file.write('{"event": "chunk", "upd')  # killed as it was written
    for _ in range(2):
        resume(update=3, evaluated=2)
        assert run.rows() == rows[:4]
        assert list(snapshots_in(run.snapshots)) == [0, 2]


@pytest.mark.fault
def test_damaged_rows_are_removed_and_lost_rows_are_a_warning(
    writer, run, resume, capsys
):
    resume()
    assert capsys.readouterr().err == (
        f"warning: {run.metrics}: no such file, so earlier rows are lost\n"
    )
    writer.write_row(made.evaluated(0))
    before = run.metrics.read_bytes()
    with run.metrics.open("ab") as file:
        file.write(b'{"event": "chunk"}\n\xff\n')
    resume()
    assert run.metrics.read_bytes() == before
    assert capsys.readouterr().err.count("dropped a row") == 2


@pytest.mark.parametrize("num_evaluations", [1, 31, 32, 63, 64, 1000])
@pytest.mark.parametrize("more_updates", [0, 3])
def test_snapshots_of_a_long_run_have_equal_distances_and_the_last_one_stays(
    num_evaluations, more_updates
):
    num_updates = 10 * num_evaluations + more_updates
    config = Config.of(eval_every=10, num_updates=num_updates)
    updates = sorted({*range(0, num_updates + 1, 10), num_updates})
    kept = [n for n in updates if run_writer.is_snapshot_kept(config, n)]
    assert kept[0] == 0
    assert kept[-1] == num_updates
    assert len(kept) <= MAX_SNAPSHOTS + 1
    assert kept == updates or len(kept) > MAX_SNAPSHOTS // 2
    distances = {later - update for update, later in itertools.pairwise(kept[:-1])}
    assert len(distances) <= 1


def test_two_new_runs_have_two_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    paths = {run_writer.make_run_folder("default", 7).path for _ in range(3)}
    assert len(paths) == 3
    assert all(path.is_dir() and "-default-seed7" in path.name for path in paths)
