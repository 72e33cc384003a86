"""Merging of the rows of a level."""

import numpy as np

from jax_ttt.solver import position_levels
from jax_ttt.solver.position_levels import Level, LevelBuilder


def level(*rows):
    """Return a level of rows (key, chance, lines, parent)."""
    columns = zip(*rows, strict=True)
    types = ("u8", "f8", "u8", "u4")
    return Level(*(np.array(x, t) for x, t in zip(columns, types, strict=True)))


def test_equal_keys_become_one_row():
    rows = level((2**60, 0.5, 3, 7), (5, 0.125, 1, 9), (2**60, 0.25, 4, 2))
    merged = position_levels.merge_rows(rows)
    assert merged.keys.tolist() == [5, 2**60]
    assert merged.chance.tolist() == [0.125, 0.75]
    assert merged.lines.tolist() == [1, 7]
    assert merged.parent.tolist() == [9, 2]


def test_no_rows_are_an_empty_level():
    for before in ([], [7], range(1000)):
        collected = LevelBuilder(np.array(before, "u8"))
        assert [len(x) for x in collected.build()] == [0, 0, 0, 0]


def test_rows_collected_in_parts_are_those_of_one_merge(monkeypatch):
    """The keys of the level before say where the parts begin, not what is in them."""
    monkeypatch.setattr(position_levels, "_BUFFER_ROWS", 100)
    monkeypatch.setattr(position_levels, "_RANGE_POSITIONS", 3)
    random = np.random.default_rng(0)
    numbers = random.integers(0, 300, (40, 30))
    parts = [
        level(*((key, 2.0**-10, 1, row) for row, key in enumerate(part)))
        for part in numbers
    ]
    collected, most = LevelBuilder(np.arange(20, 400, 2, dtype="u8")), 0
    for part in parts:
        collected.add(part)
        most = max(most, collected.num_rows)
    assert most < 600  # at most half as many again as the 300 keys, and a few parts
    assert collected.min_positions <= 300
    expected = position_levels.merge_rows(
        Level(*map(np.concatenate, zip(*parts, strict=True)))
    )
    for found, wanted in zip(collected.build(), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert expected.lines.sum() == 1200


def test_rows_stay_in_order_where_all_keys_are_above_or_below_the_level_before(
    monkeypatch,
):
    monkeypatch.setattr(position_levels, "_RANGE_POSITIONS", 100)
    for keys in (range(100), range(10**6, 10**6 + 100)):
        collected = LevelBuilder(np.arange(1000, 2000, dtype="u8"))
        for key in keys:
            collected.add(level((key, 1.0, 1, 0)))
        assert collected.build().keys.tolist() == [*keys]
        assert not collected.num_rows
