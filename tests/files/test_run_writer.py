"""A run's folder: who may use it, and what is on disk."""

import json
import sys

import made
import pytest

from jax_ttt.results.rows import read_row
from jax_ttt.training import run_folder


def test_without_locks_a_folder_in_use_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)  # as on Windows
    first = run_folder.RunFolder(tmp_path / "run")
    with pytest.raises(FileExistsError, match="remove it if no run writes"):
        run_folder.RunFolder(tmp_path / "run")
    first.close()
    run_folder.RunFolder(tmp_path / "run").close()


def test_a_row_is_on_disk_before_the_next_is_made(tmp_path):
    folder = run_folder.RunFolder(tmp_path / "run")
    row = made.evaluated(1)
    folder.write_row(row)
    assert read_row(json.loads((folder.path / "metrics.jsonl").read_text())) == row
    folder.close()
