"""Reading and writing files: the old file or the new one, never a part."""

import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from jax_ttt.runtime import atomic_files


@pytest.mark.fault
def test_a_new_file_has_the_mode_that_the_umask_gives(tmp_path):
    for umask, mode in ((0o022, 0o644), (0o077, 0o600)):
        previous = os.umask(umask)
        try:
            atomic_files.write_atomic(tmp_path / "file", b"x")
        finally:
            os.umask(previous)
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode


@pytest.mark.fault
def test_a_link_in_place_of_the_file_is_replaced_and_not_followed(tmp_path):
    target, path = tmp_path / "target", tmp_path / "file"
    target.write_bytes(b"old")
    path.symlink_to(target)
    atomic_files.write_atomic(path, b"new")
    assert (target.read_bytes(), path.read_bytes()) == (b"old", b"new")


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.fault
def test_a_failed_write_names_the_file_and_keeps_the_old_one(
    step, tmp_path, monkeypatch
):
    path = tmp_path / "file"
    atomic_files.write_atomic(path, b"old")

    def fail(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(atomic_files.WriteError) as error:
        atomic_files.write_atomic(path, b"new")
    assert str(error.value) == f"cannot write {path}: {os.strerror(errno.EIO)}"
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_the_file_is_synced_before_it_is_renamed(tmp_path, monkeypatch):
    calls = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda *args: (calls.append("sync"), sync(*args)))
    monkeypatch.setattr(
        os, "replace", lambda *args: (calls.append("rename"), replace(*args))
    )
    atomic_files.write_atomic(tmp_path / "file", b"x")
    assert calls == ["sync", "rename"]


def test_a_device_or_a_pipe_that_a_user_names_is_written_in_place(tmp_path):
    fifo, contents = tmp_path / "fifo", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: contents.append(fifo.read_bytes()))
    reader.start()
    atomic_files.write_output(fifo, b"abc")
    reader.join()
    assert contents == [b"abc"]
    atomic_files.write_output(Path("/dev/null"), b"abc")
    assert not Path("/dev/null").is_file()
    with pytest.raises(
        atomic_files.WriteError, match="cannot write /dev/full: No space left"
    ):
        atomic_files.write_output(Path("/dev/full"), b"abc")


def test_fields_are_in_the_order_of_the_longest_row_and_empty_where_a_row_lacks_them(
    tmp_path,
):
    path = tmp_path / "rows.csv"
    rows = [{"seed": 1, "losses": 0.25}, {"seed": 2, "wins": 0.5, "losses": 0}]
    atomic_files.write_csv(path, [*rows, {"seed": 3, "note": "-"}])
    names, *lines = path.read_bytes().split(b"\r\n")
    assert names == b"seed,wins,losses,note"
    assert lines == [b"1,,0.25,", b"2,0.5,0,", b"3,,,-", b""]
