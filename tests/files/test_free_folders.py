"""Which folders are free for a run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jax_ttt.config.errors import UsageError
from jax_ttt.results import free_folders

OURS = json.dumps({"versions": {"jax_ttt": "1"}, "seed": 1})


def test_new_and_empty_folders_are_free(tmp_path):
    for path in (None, tmp_path, tmp_path / "new", tmp_path / "new" / "below"):
        free_folders.check_run_dir(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({"config.json": OURS, "metrics.jsonl": "x", "times.json": "x"}, True),
        ({"config.json": OURS, "snapshots.safetensors": "x"}, True),
        ({"metrics.jsonl": ""}, True),
        ({"config.json": OURS, "agent.safetensors": "x"}, False),
        ({"agent.safetensors": ""}, False),
        ({"config.json": "{}"}, False),
        ({"metrics.jsonl": "x"}, False),
        ({"times.json": ""}, False),
        ({"snapshots.safetensors": ""}, False),
    ],
)
def test_a_folder_is_free_if_its_run_saved_no_agent(files, free, tmp_path):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    if free:
        free_folders.check_run_dir(tmp_path)
        return
    with pytest.raises(UsageError, match=r"holds no run, got '.*': File exists"):
        free_folders.check_run_dir(tmp_path)


def test_a_folder_is_locked_until_it_is_closed(tmp_path):
    free_folders.check_unlocked(tmp_path)
    lock = free_folders.FolderLock(tmp_path)
    try:
        assert (tmp_path / ".lock").read_text() == f"{os.getpid()}\n"
        for refused in (free_folders.FolderLock, free_folders.check_unlocked):
            with pytest.raises(BlockingIOError, match=f"process {os.getpid()}:"):
                refused(tmp_path)
    finally:
        lock.close()
    assert list(tmp_path.iterdir()) == []
    free_folders.check_unlocked(tmp_path)
    free_folders.FolderLock(tmp_path).close()


@pytest.mark.fault
def test_a_lock_ends_with_its_process(tmp_path):
    program = """
import sys, time
from pathlib import Path
from jax_ttt.results import free_folders
lock = free_folders.FolderLock(Path(sys.argv[1]))
print("locked", flush=True)
time.sleep(600)
"""
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(free_folders.__file__).parents[2])},
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "locked\n"
            with pytest.raises(BlockingIOError, match=f"process {process.pid}:"):
                free_folders.FolderLock(tmp_path)
        finally:
            process.kill()
    assert (tmp_path / ".lock").exists()
    free_folders.check_unlocked(tmp_path)
    free_folders.FolderLock(tmp_path).close()
    assert not (tmp_path / ".lock").exists()


def test_a_lock_that_was_removed_as_it_was_opened_is_made_again(tmp_path, monkeypatch):
    """Its owner has just closed it: the file that is locked has no name."""
    path, real, removed = tmp_path / ".lock", os.open, []

    def slow(*args, **kwargs):
        handle = real(*args, **kwargs)
        if not removed:
            removed.append(path.unlink())
        return handle

    monkeypatch.setattr(os, "open", slow)
    lock = free_folders.FolderLock(tmp_path)
    assert path.read_text() == f"{os.getpid()}\n"
    lock.close()


def test_a_link_is_not_followed_to_lock_it(tmp_path):
    (tmp_path / "precious").write_text("mine")
    (tmp_path / ".lock").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic links"):
        free_folders.FolderLock(tmp_path)
    assert (tmp_path / "precious").read_text() == "mine"


@pytest.mark.fault
def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / ".lock")
    free_folders.check_unlocked(tmp_path)
    os.mkfifo(tmp_path / "config.json")
    with pytest.raises(FileExistsError):
        free_folders.check_free(tmp_path)


def test_events_of_another_run_are_not_written_over(tmp_path):
    events = tmp_path / free_folders.EVENTS.format("1.host")
    events.parent.mkdir()
    events.write_bytes(b"events")
    with pytest.raises(FileExistsError):
        free_folders.check_free(tmp_path)
