"""The rows of a level: equal keys merged, in memory and in files."""

import functools
import tempfile

import numpy as np
import pytest

from jax_ttt.solver import merged_positions
from jax_ttt.solver.merged_positions import LevelBuilder, PositionLevel


def level(*rows):
    """Return a level of rows (key, chance, lines, parent)."""
    columns = zip(*rows, strict=True)
    types = ("u8", "f8", "u8", "u4")
    return PositionLevel(*(np.array(x, t) for x, t in zip(columns, types, strict=True)))


def test_equal_keys_become_one_row():
    rows = level((2**60, 0.5, 3, 7), (5, 0.125, 1, 9), (2**60, 0.25, 4, 2))
    merged = merged_positions.merge_rows(rows)
    assert merged.keys.tolist() == [5, 2**60]
    assert merged.chance.tolist() == [0.125, 0.75]
    assert merged.lines.tolist() == [1, 7]
    assert merged.parent.tolist() == [9, 2]


@pytest.mark.parametrize("keys_before", [[], [7], range(1000)])
def test_no_rows_are_an_empty_level(keys_before):
    empty = LevelBuilder(np.array(keys_before, "u8")).build()
    assert [len(column) for column in empty] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    "keys_before", [range(20, 400, 2), range(1000, 2000), range(0)]
)
def test_rows_in_ranges_are_those_of_one_merge(keys_before, monkeypatch):
    """The fences say where ranges begin; all keys may be on one side of them."""
    monkeypatch.setattr(merged_positions, "_BUFFER_ROWS", 100)
    monkeypatch.setattr(merged_positions, "_RANGE_POSITIONS", 3)
    keys = np.random.default_rng(0).integers(0, 300, (40, 30))
    batches = [
        level(*((key, 2.0**-10, 1, row) for row, key in enumerate(batch)))
        for batch in keys
    ]
    builder, most_rows = LevelBuilder(np.array(keys_before, "u8")), 0
    for batch in batches:
        builder.add(batch)
        most_rows = max(most_rows, builder.num_rows)
    assert most_rows < 600  # at most half as many again as the 300 keys, and a buffer
    assert builder.min_positions <= 300
    expected = merged_positions.merge_rows(
        PositionLevel(*map(np.concatenate, zip(*batches, strict=True)))
    )
    for column, values in zip(builder.build(), expected, strict=True):
        np.testing.assert_array_equal(column, values)
    assert expected.lines.sum() == 1200
    assert not builder.num_rows


def test_a_large_array_is_in_a_file_without_a_name(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    small, large = np.arange(2**17), np.arange(2**18)[::-1].copy()
    assert merged_positions.spill_to_disk(small) is small
    moved = merged_positions.spill_to_disk(large)
    assert isinstance(moved, np.memmap)
    np.testing.assert_array_equal(moved, large)
    assert not moved.flags.writeable
    assert not [*tmp_path.iterdir()]
    assert 0 < merged_positions.free_disk_bytes() < 2**60


def test_on_a_full_disk_an_array_stays_in_memory(monkeypatch):
    full = functools.partial(open, "/dev/full", "w+b")
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    array = np.ones(2**20)
    assert merged_positions.spill_to_disk(array) is array
