"""Histories of runs as the page reads them."""

import json

import made as invented

from jax_ttt.results import plain
from jax_ttt.web.descriptions import read_history


def written(path, rows, end=""):
    lines = [json.dumps(plain.to_dict(row)) for row in rows]
    path.write_text("\n".join([*lines, end]))
    return path


def test_a_history_has_the_evaluations_with_the_loss_before_them(tmp_path):
    exact = invented.exact((0.9, 0.1, 0), (0.6, 0.3, 0.1), unbeatable=False)
    rows = [
        invented.evaluated(0, exact=exact),
        invented.chunk(5),
        invented.evaluated(5, games=70, exact=exact),
    ]
    first, last = read_history(written(tmp_path / "metrics.jsonl", rows))
    assert (first["update"], first["loss"]) == (0, None)
    assert (last["update"], last["games"], last["loss"]) == (5, 70, rows[1].loss)
    assert last["x"] == {"wins": 0.9, "draws": 0.1, "losses": 0.0, "optimal": None}
    assert last["o"]["wins"] == 0.6
    assert last["unbeatable"] is False


def test_a_run_that_is_being_written_ends_with_half_a_line(tmp_path):
    exact = invented.exact((1, 0, 0), (1, 0, 0), unbeatable=True)
    rows = [invented.evaluated(0, exact=exact)]
    path = written(tmp_path / "metrics.jsonl", rows, '{"event": "evalu')
    assert len(read_history(path)) == 1


def test_metrics_that_are_missing_or_noise(tmp_path):
    assert read_history(tmp_path / "none") == []
    path = tmp_path / "metrics.jsonl"
    for noise in (b"\xff\xfe", b"[" * 100_000, b"{}", b"3\n"):
        path.write_bytes(noise)
        assert read_history(path) == []
