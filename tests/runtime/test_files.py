"""Writing files: the old file or the new one, never a part."""

import os

import pytest

from jax_ttt.runtime import files


def test_a_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    saved = tmp_path / "file"
    files.write_whole(saved, b"old")
    before = saved.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, full)
            with pytest.raises(OSError, match="No space"):
                files.write_whole(saved, b"new")
        assert saved.read_bytes() == before
        assert os.listdir(saved.parent) == [saved.name]
    files.write_whole(saved, b"new")
    assert saved.read_bytes() == b"new"


def test_a_field_that_a_row_lacks_is_empty(tmp_path):
    path = tmp_path / "rows.csv"
    files.write_csv(path, [{"seed": 1}, {"seed": 2, "wins": 0.5}])
    assert path.read_text() == "seed,wins\n1,\n2,0.5\n"


def test_a_locked_file_is_refused_until_it_is_closed(tmp_path):
    path = tmp_path / "file"
    with files.locked(path) as file:
        file.write("1")
        with pytest.raises(BlockingIOError, match="another run is writing to it"):
            files.locked(path)
    with files.locked(path) as file:
        file.write("2")
    assert path.read_text() == "12"
