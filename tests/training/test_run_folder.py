"""A run's folder: whose it is, and what is on disk."""

import sys

import pytest

from jax_ttt.training import run_folder


def test_without_locks_a_folder_that_was_used_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)  # as on Windows
    run_folder.RunFolder(tmp_path / "run").close()
    with pytest.raises(FileExistsError):
        run_folder.RunFolder(tmp_path / "run")


def test_a_row_is_on_disk_before_the_next_is_made(tmp_path):
    folder = run_folder.RunFolder(tmp_path / "run")
    folder.write_row({"update": 1})
    assert (folder.path / "metrics.jsonl").read_text() == '{"update": 1}\n'
    folder.close()
