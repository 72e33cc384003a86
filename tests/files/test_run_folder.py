"""A run's folder: its settings and rows, whether it is free, and all runs in short."""

import json
import os

import made
import pytest

from jax_ttt.config.errors import Refused
from jax_ttt.config.presets import PRESETS
from jax_ttt.files import json_records, run_folder
from jax_ttt.files.run_folder import (
    RunFolder,
    RunSummary,
    newest_run,
    run_summaries,
)

GRADE = made.exact((0.75, 0.25), (0.25, 0.5), unbeatable=True)
SETTINGS = {
    "version": 3,
    "preset": "table",
    "seed": 7,
    "config": json_records.to_dict(PRESETS["table"]),
}


def lines(*rows):
    return "".join(json_records.to_json(row) + "\n" for row in rows)


@pytest.fixture
def make(tmp_path):
    """Return a function that writes a run, the newer the greater `at`."""

    def make(name, at=1, rows=(), agent=True):
        run = RunFolder(tmp_path / name)
        run.path.mkdir()
        run.config.write_text(json.dumps(SETTINGS))
        run.metrics.write_text(lines(*rows))
        if agent:
            run.agent.write_bytes(b"")
        for path in run.path.iterdir():
            os.utime(path, (at, at))
        return run

    return make


def test_a_run_is_summarized_by_its_last_evaluation(make, tmp_path):
    """The last row of an update has the search at the end of a run."""
    proof = made.grade({"first": made.reached()})
    before, last = made.evaluated(400, GRADE), made.evaluated(400, proof)
    run = make("one", rows=[before, last, made.chunk(450)])
    (summary,), reasons = run_summaries(tmp_path)
    assert reasons == []
    assert summary == RunSummary(
        run_dir=str(run.path),
        env_id="tic_tac_toe",
        preset="table",
        seed=7,
        saved=True,
        update=400,
        seconds=last.seconds,
        grade=proof,
    )


def test_the_newest_run_is_the_last_one_that_saved_an_agent(make, tmp_path):
    for name, at in (("b", 3), ("a", 1), ("c", 2)):
        make(name, at)
    make("unfinished", 9, agent=False)
    (tmp_path / "notes").mkdir()
    (tmp_path / "file").write_text("no run")
    runs, _ = run_summaries(tmp_path)
    names = [os.path.basename(run.run_dir) for run in runs]
    assert names == ["a", "c", "b", "unfinished"]
    assert (runs[-1].update, runs[-1].grade, runs[-1].saved) == (None, None, False)
    assert newest_run(tmp_path).path == tmp_path / "b"


@pytest.mark.fault
def test_an_incomplete_last_row_is_left_out(make):
    rows = [made.evaluated(0, GRADE), made.chunk(2), made.evaluated(2, GRADE)]
    run = make("run", rows=[*rows, made.chunk(4)])
    assert run.rows() == [*rows, made.chunk(4)]
    assert run.summary().update == 2
    last = lines(made.chunk(4))
    for size in (0, 1, len(last) // 2, len(last) - 1):
        run.metrics.write_text(lines(*rows) + last[:size])
        assert run.rows() == rows
        assert run.summary().update == 2


def test_checkpoints_and_snapshots_are_in_the_order_of_their_updates(tmp_path):
    run = RunFolder(tmp_path)
    assert (run.checkpoints(), run_folder.snapshots_in(run.snapshots)) == ([], {})
    run.snapshots.mkdir()
    for update in (9, 10, 100_000):
        run.checkpoint(update).touch()
        run.snapshot(update).touch()
    for other in ("checkpoint-x.safetensors", "checkpoint-9.safetensors.damaged"):
        (tmp_path / other).touch()
        (run.snapshots / other).touch()
    assert run.checkpoints() == [run.checkpoint(n) for n in (100_000, 10, 9)]
    assert run_folder.snapshots_in(run.snapshots) == {
        update: run.snapshot(update) for update in (9, 10, 100_000)
    }


def test_a_new_or_empty_folder_is_free(tmp_path):
    for path in (tmp_path, tmp_path / "new", tmp_path / "new" / "below"):
        assert RunFolder(path).files_to_replace() == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("names", "is_free"),
    [
        (["config.json", "metrics.jsonl"], True),
        (["config.json", "snapshots/00002.safetensors"], True),
        (["config.json", "tensorboard/events.out.tfevents.1.host.0"], True),
        (["mine.txt", "snapshots/mine.txt"], True),
        (["config.json", "agent.safetensors"], False),
        (["config.json", "checkpoint-2.safetensors"], False),
        (["metrics.jsonl"], False),
        (["snapshots/00002.safetensors"], False),
        (["tensorboard/events.out.tfevents.1.host.0"], False),
    ],
)
def test_a_folder_is_free_if_its_run_saved_no_agent(names, is_free, tmp_path):
    """And only the files of that run are replaced."""
    run = RunFolder(tmp_path)
    for name in [*names, "mine.md"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(
            json.dumps(SETTINGS) if name == "config.json" else "x"
        )
    if is_free:
        for path in run.files_to_replace():
            path.unlink()
        left = {path.name for path in tmp_path.rglob("*") if path.is_file()}
        assert left == {"mine.md", *(["mine.txt"] if "mine.txt" in names else [])}
        return
    with pytest.raises(Refused, match=r"^--run-dir must be .* no run, got"):
        run.files_to_replace()


@pytest.mark.fault
def test_settings_of_somebody_else_are_not_replaced(tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs/config.json").write_text("{}")
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe/config.json")
    for name in ("theirs", "pipe"):
        with pytest.raises(Refused, match=r"^--run-dir must be .*config\.json exists$"):
            RunFolder(tmp_path / name).files_to_replace()
