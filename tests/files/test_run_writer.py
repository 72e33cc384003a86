"""What a run writes: rows, snapshots, checkpoints; and what it drops to continue."""

import dataclasses
import itertools
import json
import os

import made
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.files import agent_file, checkpoint, run_writer
from jax_ttt.files.checkpoint import LatestCheckpoint, Plan
from jax_ttt.files.run_folder import InUseError, RunFolder, Settings, snapshots_in
from jax_ttt.files.run_writer import MOST_SNAPSHOTS, RunWriter
from jax_ttt.runtime.files import WriteError
from jax_ttt.runtime.time_spans import TimeSpans


@pytest.fixture
def run(tmp_path):
    return RunFolder(tmp_path / "run")


@pytest.fixture
def writer(run):
    writer = RunWriter(run, TimeSpans())
    yield writer
    writer.close()


def test_one_process_at_a_time_writes_to_a_folder(run):
    first = RunWriter(run, TimeSpans())
    with pytest.raises(InUseError, match=f"in use by process {os.getpid()}"):
        RunWriter(run, TimeSpans())
    first.close()
    RunWriter(run, TimeSpans()).close()
    assert os.listdir(run.path) == []


def test_what_killed_processes_left_is_removed(run):
    run.snapshots.mkdir(parents=True)
    left = (".agent.safetensors.77.tmp", "snapshots/.00002.safetensors.77.tmp")
    for name in (*left, "mine.tmp", ".mine"):
        (run.path / name).touch()
    RunWriter(run, TimeSpans()).close()
    assert sorted(os.listdir(run.path)) == [".mine", "mine.tmp", "snapshots"]
    assert os.listdir(run.snapshots) == []


def test_a_row_is_on_disk_before_the_next_is_made(writer, run):
    rows = [made.evaluated(0), made.chunk(1)]
    for count, row in enumerate(rows, 1):
        writer.write_row(row)
        assert run.rows() == rows[:count]


def test_a_run_begins_with_its_settings(writer, run, capsys):
    config = Config.of(tau=0.25)
    writer.begin(
        Plan(config=config, preset="default", seed=7), {"device": {"kind": "abacus"}}
    )
    assert run.settings() == Settings(config, "default", 7)
    about = json.loads(run.config.read_text())
    assert about["device"] == {"kind": "abacus"}
    assert about["command"]
    assert capsys.readouterr().err == ""


def test_a_run_that_left_nothing_to_continue_is_replaced(writer, run, agent, capsys):
    writer.begin(Plan(config=Config.of(), preset="default", seed=6), {})
    writer.write_row(made.evaluated(0))
    writer.save_snapshot(agent)
    writer.save_best(agent)
    (run.path / "notes.txt").touch()
    writer.begin(Plan(config=Config.of(), preset="default", seed=7), {})
    assert capsys.readouterr().err == (
        f"replacing the run in {run.path}: it left neither an agent nor a checkpoint\n"
    )
    assert run.files() == ["config.json", "notes.txt", "snapshots"]
    assert snapshots_in(run.snapshots) == {}
    assert run.settings().seed == 7


def test_a_process_that_does_not_write_makes_no_file(run, agent, state, tmp_path):
    """Where several processes train one run, only the first one writes."""
    writer = RunWriter(run, TimeSpans(), writes=False)
    writer.begin(Plan(config=Config.of(), preset="default", seed=7), {})
    writer.write_row(made.evaluated(0))
    writer.save_agent(agent)
    writer.save_best(agent)
    writer.save_snapshot(agent)
    assert writer.save_checkpoint(state, keep=2) == run.checkpoint(2)
    writer.resume(
        LatestCheckpoint(run, run.checkpoint(2), state, {run.checkpoint(4): "why"})
    )
    writer.write_times()
    writer.close()
    assert os.listdir(tmp_path) == []


def test_the_latest_checkpoints_stay_and_no_other_file_is_removed(writer, run, state):
    others = ["checkpoint-x.safetensors", "checkpoint-3.safetensors.damaged", "mine"]
    for name in others:
        (run.path / name).touch()
    for update in (8, 9, 10, 100):
        saved = dataclasses.replace(state, update=update)
        path = writer.save_checkpoint(saved, keep=3)
        assert path == run.checkpoint(update) == run.checkpoints()[0]
    assert run.checkpoints() == [run.checkpoint(n) for n in (100, 10, 9)]
    assert set(run.files()) == {*others, *(path.name for path in run.checkpoints())}
    found = checkpoint.newest_checkpoint(run)
    assert (found.checkpoint.update, found.damaged) == (100, {})


@pytest.mark.fault
def test_a_checkpoint_that_can_not_be_written_keeps_the_old_ones(
    writer, run, state, monkeypatch
):
    writer.save_checkpoint(state, keep=1)
    before = run.checkpoint(2).read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WriteError, match="No space left"):
        writer.save_checkpoint(dataclasses.replace(state, update=9), keep=1)
    assert run.files() == ["checkpoint-2.safetensors"]
    assert run.checkpoint(2).read_bytes() == before


def evaluations(*updates):
    return [made.evaluated(update) for update in updates]


def test_what_was_written_after_the_checkpoint_is_dropped(writer, run, agent, state):
    """Its last evaluation was the one at update 2, and its last chunk ended at 3."""
    rows = [
        *(made.evaluated(0), made.chunk(2), made.evaluated(2), made.chunk(3)),
        *(made.evaluated(3), made.chunk(4), made.evaluated(4)),
    ]
    for row in rows:
        writer.write_row(row)
        writer.save_snapshot(dataclasses.replace(agent, num_updates=row.update))
    with run.metrics.open("a") as file:
        file.write('{"event": "chunk", "upd')  # killed as it was written
    saved = dataclasses.replace(state, update=3, evaluated=2)
    writer.resume(LatestCheckpoint(run, run.checkpoint(3), saved, {}))
    assert run.rows() == rows[:4]
    assert list(snapshots_in(run.snapshots)) == [0, 2]
    before = run.metrics.read_bytes()
    writer.resume(LatestCheckpoint(run, run.checkpoint(3), saved, {}))
    assert run.metrics.read_bytes() == before


@pytest.mark.fault
def test_a_damaged_row_is_dropped_with_a_warning(writer, run, state, capsys):
    writer.write_row(made.evaluated(0))
    before = run.metrics.read_bytes()
    damaged = b'{"event": "chunk"}\n\xff\n'
    with run.metrics.open("ab") as file:
        file.write(damaged)
    writer.write_row(made.chunk(9))
    writer.resume(LatestCheckpoint(run, run.checkpoint(2), state, {}))
    assert run.metrics.read_bytes() == before
    assert capsys.readouterr().err.count("dropped a row") == 2


@pytest.mark.fault
def test_lost_rows_are_a_warning(writer, run, state, capsys):
    writer.resume(LatestCheckpoint(run, run.checkpoint(2), state, {}))
    assert capsys.readouterr().err == (
        f"warning: {run.metrics}: no such file, so earlier rows are lost\n"
    )
    assert run.rows() == []


def test_damaged_checkpoints_are_set_aside(writer, run, state):
    for update in (2, 4):
        run.checkpoint(update).write_bytes(b"%d" % update)
    writer.resume(
        LatestCheckpoint(run, run.checkpoint(2), state, {run.checkpoint(4): "why"})
    )
    assert run.checkpoints() == [run.checkpoint(2)]
    aside = run.path / "checkpoint-4.safetensors.damaged"
    assert aside.read_bytes() == b"4"


def test_a_snapshot_is_an_agents_file(writer, run, agent):
    writer.save_snapshot(agent)
    path = run.snapshots / "00002.safetensors"
    assert path.read_bytes() == agent_file.encode_agent(agent)


@pytest.mark.fault
def test_a_snapshot_that_can_not_be_saved_is_a_warning(
    writer, run, agent, monkeypatch, capsys
):
    name = "layers.layers.0.bias"
    bad = agent.tensors[name] * float("nan")
    writer.save_snapshot(
        dataclasses.replace(agent, tensors=agent.tensors | {name: bad})
    )
    assert f"warning: {name} is not finite" in capsys.readouterr().err

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    writer.save_snapshot(agent)
    assert capsys.readouterr().err == (
        f"warning: cannot write {run.snapshot(2)}: No space left on device\n"
    )
    assert os.listdir(run.snapshots) == []


@pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 63, 64, 100, 1000])
@pytest.mark.parametrize("rest", [0, 3])
def test_a_long_run_keeps_snapshots_at_equal_distances_and_the_last(count, rest):
    """`count` regular evaluations after the first, and perhaps one at the end."""
    config = Config.of(eval_every=10, num_updates=10 * count + rest)
    every = sorted({*range(0, 10 * count + 1, 10), config.run.num_updates})
    kept = [update for update in every if run_writer.is_snapshot_kept(config, update)]
    assert kept[0] == 0
    assert kept[-1] == config.run.num_updates
    assert len(kept) <= MOST_SNAPSHOTS + 1
    assert kept == every or len(kept) > MOST_SNAPSHOTS // 2
    distances = {later - update for update, later in itertools.pairwise(kept[:-1])}
    assert len(distances) <= 1


def test_the_times_of_a_run_are_written(writer, run):
    with writer.times.recording("train"):
        pass
    writer.write_row(made.evaluated(0))
    writer.write_times()
    about = json.loads(run.times.read_text())
    assert about["seconds"]["train"] > 0
    assert about["seconds"]["write"] > 0
    assert about["total_seconds"] >= sum(about["seconds"].values())


def test_two_new_runs_have_two_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs = {run_writer.make_run_folder("default", 7).path for _ in range(3)}
    assert len(runs) == 3
    assert all(path.is_dir() and "-default-seed7" in path.name for path in runs)
