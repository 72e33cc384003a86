"""Reading and writing files: the old file or the new one, never a part."""

import errno
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from jax_ttt.runtime import atomic_files

ROOT = str(Path(atomic_files.__file__).parents[2])


def reason_not_read(path, max_bytes=100):
    with pytest.raises(atomic_files.UnreadableError) as error:
        atomic_files.read_bounded(path, max_bytes)
    return str(error.value)


def test_a_regular_file_is_read_also_through_a_link(tmp_path):
    (tmp_path / "file").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("file")
    for name in ("file", "link"):
        assert atomic_files.read_bounded(tmp_path / name, 3) == b"abc"
    assert reason_not_read(tmp_path / "file", 2) == "larger than 2 bytes"


@pytest.mark.fault
def test_paths_that_are_not_regular_files_are_refused_without_waiting(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    os.mkfifo("fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for path in ("fifo", "socket", ".", "/dev/zero", "/dev/full", "/dev/null"):
            assert reason_not_read(Path(path)) == "not a regular file"
    Path("loop").symlink_to("loop")
    assert "symbolic links" in reason_not_read(Path("loop"))
    Path("dangling").symlink_to("none")
    for path in ("none", "dangling"):
        assert reason_not_read(Path(path)) == "No such file or directory"
    assert reason_not_read(Path("x" * 300)) == "File name too long"
    assert "null" in reason_not_read(Path("a\0b"))


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
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
@pytest.mark.fault
def test_a_failed_write_names_the_file_and_keeps_the_old_one(
    code, step, tmp_path, monkeypatch
):
    path = tmp_path / "file"
    atomic_files.write_atomic(path, b"old")

    def fail(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(atomic_files.WriteError) as error:
        atomic_files.write_atomic(path, b"new")
    assert str(error.value) == f"cannot write {path}: {os.strerror(code)}"
    assert error.value.errno == code
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("none/file", "No such file or directory"),
        ("taken/file", "Not a directory"),
        ("folder", "Is a directory"),
        ("x" * 300, "File name too long"),
    ],
)
@pytest.mark.fault
def test_a_path_that_cannot_be_written_is_named(name, reason, tmp_path):
    (tmp_path / "taken").write_bytes(b"x")
    (tmp_path / "folder").mkdir()
    message = f"^cannot write {tmp_path / name}: {reason}"
    with pytest.raises(atomic_files.WriteError, match=message):
        atomic_files.write_atomic(tmp_path / name, b"new")
    assert sorted(os.listdir(tmp_path)) == ["folder", "taken"]


WRITE = """
import os, resource, signal, sys
from pathlib import Path
from jax_ttt.runtime import atomic_files
path, step = sys.argv[1:]
if step == "limit":
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
else:
    setattr(os, step, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
try:
    atomic_files.write_atomic(Path(path), bytes(2000))
except atomic_files.WriteError as error:
    print(error)
"""


@pytest.mark.parametrize("step", ["limit", "fsync", "replace"])
@pytest.mark.fault
def test_the_old_file_survives_a_killed_process_and_a_limit_of_the_system(
    step, tmp_path
):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    done = subprocess.run(
        [sys.executable, "-c", WRITE, str(path), step],
        env=os.environ | {"PYTHONPATH": ROOT},
        capture_output=True,
        text=True,
    )
    assert path.read_bytes() == b"old"
    if step == "limit":
        assert done.stdout == f"cannot write {path}: File too large\n"
        assert os.listdir(tmp_path) == ["file"]
        return
    assert done.returncode == -signal.SIGKILL
    assert len(os.listdir(tmp_path)) == 2
    for name in (".mine", "mine.tmp"):
        (tmp_path / name).touch()
    atomic_files.remove_temporary(tmp_path)
    assert sorted(os.listdir(tmp_path)) == [".mine", "file", "mine.tmp"]


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


def test_a_field_that_a_row_lacks_is_empty(tmp_path):
    path = tmp_path / "rows.csv"
    rows = [{"seed": 1}, {"seed": 2, "wins": 0.5}, {"seed": 3, "losses": 0.25}]
    atomic_files.write_csv(path, rows)
    assert path.read_bytes() == b"seed,wins,losses\r\n1,,\r\n2,0.5,\r\n3,,0.25\r\n"
