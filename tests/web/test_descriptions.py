"""Histories of runs as the page reads them."""

import shutil

import made as invented
import tiny

from jax_ttt.files import records
from jax_ttt.files.run_folder import RunFolder
from jax_ttt.web.descriptions import read_history


def written(folder, rows, end=""):
    run = RunFolder(folder)
    run.metrics.write_text("\n".join([*map(records.to_json, rows), end]))
    return run


def test_a_history_has_the_evaluations_with_the_loss_before_them(tmp_path):
    grade = invented.exact((0.9, 0.1, 0), (0.6, 0.3, 0.1), unbeatable=False)
    rows = [
        invented.evaluated(0, grade),
        invented.chunk(5),
        invented.evaluated(5, grade, games=70),
    ]
    first, last = read_history(written(tmp_path, rows))
    assert (first["update"], first["loss"]) == (0, None)
    assert (last["update"], last["games"], last["loss"]) == (5, 70, rows[1].loss)
    assert last["grade"] == records.to_dict(grade)


def test_a_run_that_is_being_written_ends_with_half_a_line(tmp_path):
    grade = invented.exact((1, 0, 0), (1, 0, 0), unbeatable=True)
    rows = [invented.evaluated(0, grade)]
    run = written(tmp_path, rows, '{"event": "evalu')
    assert len(read_history(run)) == 1


def test_metrics_that_are_missing_or_noise(tmp_path):
    run = RunFolder(tmp_path)
    assert read_history(run) == []
    for noise in (b"\xff\xfe", b"[" * 100_000, b"{}", b"3\n"):
        run.metrics.write_bytes(noise)
        assert read_history(run) == []


def test_the_snapshots_of_a_run_add_the_share_of_best_moves(client, tmp_path):
    folder = tmp_path / "runs" / "a"
    untrained = tiny.save_untrained(folder / "agent.safetensors")
    run = RunFolder(folder)
    run.snapshots.mkdir()
    shutil.copy(untrained, run.snapshot(0))
    grade = invented.exact((1, 0, 0), (1, 0, 0), unbeatable=True)
    written(folder, [invented.evaluated(0, grade), invented.evaluated(5, grade)])
    first, last = client.get("/api/history?agent=run/a").json()["rows"]
    assert first["grade"] == client.get("/api/grade?agent=run/a").json()
    assert 0 < first["grade"]["second"]["optimal_move_rate"] < 1
    assert last["grade"] == records.to_dict(grade)
