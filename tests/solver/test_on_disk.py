"""Large arrays in files without names."""

import tempfile

import numpy as np
import pytest

from jax_ttt.solver import position_levels


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the folder of such files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_a_large_array_keeps_its_values_in_a_file():
    array = np.arange(2**20, dtype="u4")[::-1].copy()
    moved = position_levels.move_to_file(array)
    assert isinstance(moved, np.memmap)
    assert moved.dtype == array.dtype
    np.testing.assert_array_equal(moved, array)
    assert not moved.flags.writeable


def test_the_file_has_no_name(folder):
    moved = position_levels.move_to_file(np.ones(2**20))
    assert moved.sum() == 2**20
    assert not [*folder.iterdir()]


def test_on_a_full_disk_it_stays_in_memory(monkeypatch):
    def full():
        return open("/dev/full", "w+b")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    array = np.ones(2**20)
    assert position_levels.move_to_file(array) is array


def test_the_free_bytes_are_those_of_the_folder(folder):
    assert 0 < position_levels.free_disk_bytes() < 2**60
    folder.rmdir()
    with pytest.raises(OSError, match="No such file"):
        position_levels.free_disk_bytes()
