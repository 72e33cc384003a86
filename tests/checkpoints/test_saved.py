"""The checkpoints in a folder: order, pruning, and files that can't be used."""

import dataclasses
import os

import pytest

from jax_ttt.checkpoints import saved
from jax_ttt.checkpoints.contents import checkpoint_file
from jax_ttt.config.errors import UsageError
from jax_ttt.runtime import files


def at(checkpoint, update):
    return dataclasses.replace(checkpoint, update=update)


def names(folder):
    return [path.name for path in saved.paths(folder)]


def test_the_latest_stay_and_no_other_file_is_removed(checkpoint, tmp_path):
    others = ["checkpoint-x.safetensors", "checkpoint-3.safetensors.damaged", "mine"]
    for name in others:
        (tmp_path / name).touch()
    for update in (8, 9, 10, 100):
        path = saved.save_checkpoint(tmp_path, at(checkpoint, update), 3)
        assert path == saved.paths(tmp_path)[0] == saved.path_of(tmp_path, update)
    assert names(tmp_path) == [f"checkpoint-{n}.safetensors" for n in (100, 10, 9)]
    assert {p.name for p in tmp_path.iterdir()} == {*others, *names(tmp_path)}


@pytest.mark.fault
def test_the_latest_has_the_most_updates_whatever_the_times_are(checkpoint, tmp_path):
    for age, update in enumerate((10, 9, 8)):
        path = saved.save_checkpoint(tmp_path, at(checkpoint, update), 3)
        os.utime(path, (1000 + age, 1000 + age))
    assert saved.newest(tmp_path).checkpoint.update == 10


def test_what_can_not_be_used_is_set_aside(checkpoint, tmp_path):
    for update in (1, 2, 3):
        saved.save_checkpoint(tmp_path, at(checkpoint, update), 3)
    for update in (2, 3):
        saved.path_of(tmp_path, update).write_bytes(b"")
    found = saved.newest(tmp_path)
    assert found.checkpoint.update == 1
    assert [path.name for path in found.damaged] == names(tmp_path)[:2]
    saved.set_aside(found)
    assert names(tmp_path) == ["checkpoint-1.safetensors"]
    assert len([*tmp_path.glob("*.damaged")]) == 2


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "device"])
@pytest.mark.fault
def test_what_is_no_file_is_refused_and_nothing_waits(kind, tmp_path):
    path = saved.path_of(tmp_path, 5)
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "link":
            path.symlink_to(tmp_path / "nothing")
        case "device":
            path.symlink_to("/dev/zero")
    with pytest.raises(UsageError, match=r"checkpoint-5\.safetensors: "):
        saved.newest(tmp_path)


def test_a_write_that_fails_keeps_the_old_ones(checkpoint, tmp_path, monkeypatch):
    saved.save_checkpoint(tmp_path, checkpoint, 1)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(files.WriteError, match="No space left"):
        saved.save_checkpoint(tmp_path, at(checkpoint, 9), 1)
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint-2.safetensors"]
    assert saved.newest(tmp_path).checkpoint.update == 2
    assert checkpoint_file(checkpoint) == saved.path_of(tmp_path, 2).read_bytes()
