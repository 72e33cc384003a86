"""Writing files: the old file or the new one, never a part."""

import errno
import os
import re
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from jax_ttt.runtime import files


def modes(folder):
    return {path.name: stat.S_IMODE(path.lstat().st_mode) for path in folder.iterdir()}


@pytest.mark.fault
def test_a_file_has_its_mode_unless_the_umask_reduces_it(tmp_path):
    for umask, usual in ((0, 0o644), (0o022, 0o644), (0o077, 0o600)):
        old = os.umask(umask)
        try:
            files.write_whole(tmp_path / "usual", b"x")
            files.write_whole(tmp_path / "own", b"x", mode=0o600)
        finally:
            os.umask(old)
        assert modes(tmp_path) == {"usual": usual, "own": 0o600}


@pytest.mark.fault
def test_a_link_in_place_of_the_file_is_replaced_not_followed(tmp_path):
    secret, path = tmp_path / "secret", tmp_path / "file"
    secret.write_bytes(b"secret")
    path.symlink_to(secret)
    files.write_whole(path, b"new")
    assert (secret.read_bytes(), path.read_bytes()) == (b"secret", b"new")
    assert not path.is_symlink()


@pytest.mark.fault
def test_a_link_at_the_temporary_name_is_not_followed(tmp_path, monkeypatch):
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    monkeypatch.setattr(files, "_temporary_name", lambda: "known")
    for plant in (secret, tmp_path / "none"):
        (tmp_path / "known").symlink_to(plant)
        with pytest.raises(files.WriteError, match="File exists"):
            files.write_whole(tmp_path / "file", b"new")
    assert secret.read_bytes() == b"secret"
    assert not (tmp_path / "none").exists()


def test_the_file_is_synced_before_it_is_renamed_and_its_folder_after(
    tmp_path, monkeypatch
):
    calls = []
    sync, replace = os.fsync, os.replace

    def fsync(handle):
        is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        calls.append("sync folder" if is_folder else "sync file")
        sync(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(
        os, "replace", lambda *args: (calls.append("rename"), replace(*args))
    )
    files.write_whole(tmp_path / "file", b"x")
    assert calls == ["sync file", "rename", "sync folder"]
    calls.clear()
    files.write_whole(tmp_path / "file", b"y", synced=False)
    assert calls == ["rename"]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (errno.ENOSPC, "No space left on device"),
        (errno.EFBIG, "File too large"),
        (errno.EROFS, "Read-only file system"),
        (errno.EIO, "Input/output error"),
    ],
)
@pytest.mark.parametrize("name", ["write", "fsync", "replace"])
@pytest.mark.fault
def test_a_failed_write_names_the_file_and_leaves_nothing(
    code, text, name, tmp_path, monkeypatch
):
    path = tmp_path / "file"
    files.write_whole(path, b"old")

    def fails(*_):
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        if name == "write":
            patch.setattr(files, "_write_new", fails)
        else:
            patch.setattr(os, name, fails)
        with pytest.raises(files.WriteError) as error:
            files.write_whole(path, b"new")
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
        files.write_whole(tmp_path / name, b"new")
    assert sorted(os.listdir(tmp_path)) == ["folder", "taken"]


@pytest.mark.fault
def test_odd_names_are_written(tmp_path):
    for name in ("x" * 255, "a\nb", "\u00e9\u2603", " "):
        files.write_whole(tmp_path / name, b"x")
        assert (tmp_path / name).read_bytes() == b"x"


LIMITED = """
import resource, sys
from pathlib import Path
from jax_ttt.runtime import files
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    files.write_whole(Path(sys.argv[1]), bytes(2000))
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


def ended_process():
    """Return the number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def of_process(number):
    """Return a temporary name of another process."""
    return re.sub(r"-\d+-([0-9a-f]+\.)", rf"-{number}-\1", files._temporary_name())


@pytest.mark.fault
def test_only_temporary_files_of_ended_processes_are_removed(tmp_path, monkeypatch):
    dead, alive = ended_process(), os.getppid()
    gone = [of_process(dead), of_process(dead), files._temporary_name()]
    other_machine = re.sub(r"jax_ttt-\w{8}", "jax_ttt-00000000", of_process(dead))
    kept = [
        *(of_process(alive), of_process(1), other_machine),
        *("agent.safetensors", ".jax_ttt-7", f".{dead}.tmp", f"x{of_process(dead)}"),
    ]
    for name in (*gone, *kept):
        (tmp_path / name).write_bytes(b"x")
    folder, link = of_process(dead), of_process(dead)
    (tmp_path / folder).mkdir()
    (tmp_path / link).symlink_to("agent.safetensors")
    assert files.remove_leftovers(tmp_path) == sorted(gone)
    assert set(os.listdir(tmp_path)) == {*kept, folder, link}
    assert files.remove_leftovers(tmp_path) == []
    assert files.remove_leftovers(tmp_path / "none") == []


def test_a_file_that_this_process_is_writing_is_no_leftover(tmp_path, monkeypatch):
    removed, write_new = [], files._write_new

    def writing(path, *args):
        write_new(path, *args)
        removed.append(files.remove_leftovers(tmp_path))

    monkeypatch.setattr(files, "_write_new", writing)
    files.write_whole(tmp_path / "file", b"x")
    assert removed == [[]]
    assert os.listdir(tmp_path) == ["file"]


KILLED = """
import os, signal, sys
from pathlib import Path
from jax_ttt.runtime import files
setattr(os, sys.argv[2], lambda *_: os.kill(os.getpid(), signal.SIGKILL))
files.write_whole(Path(sys.argv[1]), b"new")
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
    assert len(files.remove_leftovers(tmp_path)) == 1
    assert os.listdir(tmp_path) == ["file"]


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


@pytest.mark.fault
def test_a_link_or_a_pipe_is_not_appended_to(tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    (tmp_path / "link").symlink_to(secret)
    (tmp_path / "dangling").symlink_to(tmp_path / "none")
    os.mkfifo(tmp_path / "fifo")
    for name in ("link", "dangling", "fifo"):
        with pytest.raises(OSError, match=r"symbolic links|not a regular|No such dev"):
            files.locked(tmp_path / name)
    assert secret.read_bytes() == b"secret"
    assert not (tmp_path / "none").exists()


def test_a_field_that_a_row_lacks_is_empty(tmp_path):
    path = tmp_path / "rows.csv"
    rows = [{"seed": 1}, {"seed": 2, "wins": 0.5}, {"seed": 3, "losses": 0.25}]
    files.write_csv(path, rows)
    assert path.read_bytes() == b"seed,wins,losses\r\n1,,\r\n2,0.5,\r\n3,,0.25\r\n"


def test_a_locked_file_is_refused_until_it_is_closed(tmp_path):
    path = tmp_path / "file"
    with files.locked(path) as file:
        file.write("1")
        with pytest.raises(BlockingIOError, match="another run is writing to it"):
            files.locked(path)
    with files.locked(path) as file:
        file.write("2")
    assert path.read_text() == "12"


def test_without_locks_an_existing_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    path = tmp_path / "rows.jsonl"
    files.locked(path).close()
    with pytest.raises(FileExistsError, match="there are no locks here"):
        files.locked(path)
