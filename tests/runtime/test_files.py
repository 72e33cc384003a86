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

from jax_ttt.runtime import files


def refused(path, most=100):
    reasons = set()
    for read in (files.check_readable, files.read_bounded):
        with pytest.raises(files.UnreadableError) as error:
            read(path, most)
        reasons.add(str(error.value))
    (reason,) = reasons
    return reason


def test_a_regular_file_is_read_also_through_a_link(tmp_path):
    (tmp_path / "file").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("file")
    for name in ("file", "link"):
        assert files.read_bounded(tmp_path / name, 3) == b"abc"
    assert refused(tmp_path / "file", 2) == "larger than 2 bytes"


@pytest.mark.fault
def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    os.mkfifo("fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for path in ("fifo", "socket", ".", "/dev/zero", "/dev/full", "/dev/null"):
            assert refused(Path(path)) == "not a regular file"
    Path("loop").symlink_to("loop")
    assert "symbolic links" in refused(Path("loop"))
    assert refused(Path("none")) == "No such file or directory"
    Path("dangling").symlink_to("none")
    assert refused(Path("dangling")) == "No such file or directory"
    assert refused(Path("x" * 300)) == "File name too long"
    assert "null" in refused(Path("a\0b"))


@pytest.mark.fault
def test_a_new_file_has_the_mode_that_the_umask_gives(tmp_path):
    for umask, mode in ((0o022, 0o644), (0o077, 0o600)):
        old = os.umask(umask)
        try:
            files.write_atomic(tmp_path / "file", b"x")
        finally:
            os.umask(old)
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode


@pytest.mark.fault
def test_a_link_in_place_of_the_file_is_replaced_not_followed(tmp_path):
    secret, path = tmp_path / "secret", tmp_path / "file"
    secret.write_bytes(b"secret")
    path.symlink_to(secret)
    files.write_atomic(path, b"new")
    assert (secret.read_bytes(), path.read_bytes()) == (b"secret", b"new")
    assert not path.is_symlink()


def test_the_file_is_synced_before_it_is_renamed(tmp_path, monkeypatch):
    calls = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda *args: (calls.append("sync"), sync(*args)))
    monkeypatch.setattr(
        os, "replace", lambda *args: (calls.append("rename"), replace(*args))
    )
    files.write_atomic(tmp_path / "file", b"x")
    assert calls == ["sync", "rename"]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (errno.ENOSPC, "No space left on device"),
        (errno.EFBIG, "File too large"),
        (errno.EROFS, "Read-only file system"),
        (errno.EIO, "Input/output error"),
    ],
)
@pytest.mark.parametrize("name", ["fsync", "replace"])
@pytest.mark.fault
def test_a_failed_write_names_the_file_and_leaves_nothing(
    code, text, name, tmp_path, monkeypatch
):
    path = tmp_path / "file"
    files.write_atomic(path, b"old")

    def fails(*_):
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, name, fails)
        with pytest.raises(files.WriteError) as error:
            files.write_atomic(path, b"new")
    assert str(error.value) == f"cannot write {path}: {text}"
    assert error.value.errno == code
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("none/file", "No such file or directory"),
        ("taken/file", "Not a directory"),
        ("folder", "Is a directory"),
        ("x" * 300, "File name too long"),
    ],
)
@pytest.mark.fault
def test_a_path_that_cannot_be_written_is_named(name, why, tmp_path):
    (tmp_path / "taken").write_bytes(b"x")
    (tmp_path / "folder").mkdir()
    reason = f"^cannot write {tmp_path / name}: {why}"
    with pytest.raises(files.WriteError, match=reason):
        files.write_atomic(tmp_path / name, b"new")
    assert sorted(os.listdir(tmp_path)) == ["folder", "taken"]


@pytest.mark.fault
def test_odd_names_are_written(tmp_path):
    for name in ("x" * 200, "a\nb", "\u00e9\u2603", " ", "{}", "%s"):
        files.write_atomic(tmp_path / name, b"x")
        assert (tmp_path / name).read_bytes() == b"x"


LIMITED = """
import resource, sys
from pathlib import Path
from jax_ttt.runtime import files
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    files.write_atomic(Path(sys.argv[1]), bytes(2000))
except files.WriteError as error:
    print(error)
"""


@pytest.mark.skipif(os.name == "nt", reason="the limit is POSIX's")
@pytest.mark.fault
def test_a_limit_of_the_system_keeps_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)],
        env=os.environ | {"PYTHONPATH": str(Path(files.__file__).parents[2])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"cannot write {path}: File too large\n"
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


KILLED = """
import os, signal, sys
from pathlib import Path
from jax_ttt.runtime import files
setattr(os, sys.argv[2], lambda *_: os.kill(os.getpid(), signal.SIGKILL))
files.write_atomic(Path(sys.argv[1]), b"new")
"""


@pytest.mark.parametrize("stage", ["fsync", "replace"])
@pytest.mark.fault
def test_a_killed_process_leaves_the_old_file_and_a_leftover(stage, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(path), stage],
        env=os.environ | {"PYTHONPATH": str(Path(files.__file__).parents[2])},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    assert len(os.listdir(tmp_path)) == 2
    for name in (".mine", "mine.tmp"):
        (tmp_path / name).touch()
    files.remove_temporary(tmp_path)
    assert sorted(os.listdir(tmp_path)) == [".mine", "file", "mine.tmp"]


def test_a_device_or_a_pipe_that_the_user_names_is_written_in_place(tmp_path):
    fifo, read = tmp_path / "fifo", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()))
    reader.start()
    files.write_output(fifo, b"abc")
    reader.join()
    assert read == [b"abc"]
    files.write_output(Path("/dev/null"), b"abc")
    assert not Path("/dev/null").is_file()
    with pytest.raises(files.WriteError, match="cannot write /dev/full: No space left"):
        files.write_output(Path("/dev/full"), b"abc")
    files.write_output(tmp_path / "file", b"abc")
    assert (tmp_path / "file").read_bytes() == b"abc"


def test_a_field_that_a_row_lacks_is_empty(tmp_path):
    path = tmp_path / "rows.csv"
    rows = [{"seed": 1}, {"seed": 2, "wins": 0.5}, {"seed": 3, "losses": 0.25}]
    files.write_csv(path, rows)
    assert path.read_bytes() == b"seed,wins,losses\r\n1,,\r\n2,0.5,\r\n3,,0.25\r\n"
