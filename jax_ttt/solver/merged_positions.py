"""The positions of a level of a search, found in any order and sorted by key.

Many moves lead to the same position, and all rows of a large level do not fit into
memory before equal ones are merged. `LevelBuilder` is a log-structured merge with
fences (O'Neil et al. 1996, "The log-structured merge-tree"): new rows wait in a buffer;
a full buffer is sorted and cut at fixed keys, the fences, into ranges; and a range is
merged when it has grown by half. So memory holds little more than one row for each
position, and a sort needs memory for a copy of one range only. The keys and parents of
finished levels are moved to files.

Axes: `P` positions of a level, `N` different keys of rows, `R` rows.
"""

import dataclasses
import shutil
import tempfile
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, UInt64

from jax_ttt.games.position_keys import PositionKeys

_BUFFER_ROWS = 2**21
"""Rows that wait until they are sorted together: 59 MB, for few and large sorts."""
_BUFFER_BYTES = 2**28
"""Bytes of such rows, at most."""
_MAX_RANGES = 64
"""Maximum number of ranges of a level. With 64, a sort copies about 2% of the level,
and a full buffer still gives each range 2**15 rows."""
_RANGE_POSITIONS = 2**14
"""Positions of the level before for each range, at least: a smaller level is one range,
since a copy of it takes less than 1 MB."""
_GROWTH = 1.5
"""A range is merged when it has this many times the rows that it had after the last
merge. So about a third of its rows are doubles at most, and each row is sorted only a
few times, since a range that grows is merged less and less often."""
_FILE_BYTES = 2**20
"""Bytes from which an array is moved to a file."""


class PositionLevel(NamedTuple):
    """The positions after so many moves: 20 bytes and the key for each."""

    keys: PositionKeys  # (P,), ascending
    chance: Float[np.ndarray, " P"]  # float64: that a random opponent's game gets there
    # The number of lines of play that lead there. 64 bits hold it in Connect Four: the
    # opponent has 7 moves at most in each of its 21 turns, and 7**21 is below 2**64.
    lines: UInt64[np.ndarray, " P"]
    parent: Int[np.ndarray, " P"]  # uint32: a position of the level before

    def where(self, is_chosen: Bool[np.ndarray, " P"]) -> "PositionLevel":
        """Return the chosen rows."""
        places = np.flatnonzero(is_chosen)
        return PositionLevel(*(column[places] for column in self))


def plain_rows(keys: PositionKeys) -> PositionLevel:
    """Return positions as rows of a level, without their chances and lines."""
    return PositionLevel(
        keys=keys,
        chance=np.zeros(len(keys)),
        lines=np.zeros(len(keys), "u8"),
        parent=np.zeros(len(keys), "u4"),
    )


class LevelBuilder:
    """The rows of a level while they are found; those with equal keys are merged."""

    def __init__(self, keys_before: PositionKeys) -> None:
        """Begin without rows.

        The fences are keys of the level before, at equal distances: both levels spread
        over the keys alike, so the ranges get about as many rows each.
        """
        num_ranges = min(1 + len(keys_before) // _RANGE_POSITIONS, _MAX_RANGES)
        places = np.linspace(0, len(keys_before), num_ranges + 1)[1:-1].astype(int)
        self._fences = keys_before[places]
        self._empty = plain_rows(keys_before[:0])
        self._ranges = [_Range(self._empty) for _ in range(len(self._fences) + 1)]
        self._buffer: list[PositionLevel] = []
        self._num_buffered = 0
        row_bytes = sum(column.itemsize for column in self._empty)
        self._buffer_rows = min(_BUFFER_ROWS, _BUFFER_BYTES // row_bytes)

    @property
    def min_positions(self) -> int:
        """The number of different positions, at least: those after the last merges."""
        return sum(part.num_merged for part in self._ranges)

    @property
    def num_rows(self) -> int:
        """The number of rows in memory."""
        return self._num_buffered + sum(part.num_rows for part in self._ranges)

    def add(self, rows: PositionLevel) -> None:
        """Add rows, in any order."""
        self._buffer.append(rows)
        self._num_buffered += len(rows.keys)
        if self._num_buffered >= self._buffer_rows:
            self._empty_buffer()

    def _empty_buffer(self) -> None:
        """Sort the buffered rows, and give each range its rows."""
        rows = merge_rows(_joined([self._empty, *self._buffer]))
        self._buffer, self._num_buffered = [], 0
        places = [0, *np.searchsorted(rows.keys, self._fences), len(rows.keys)]
        for part, begin, end in zip(self._ranges, places, places[1:], strict=False):
            if begin < end:
                # Copies, since a slice would keep all rows in memory.
                part.add(PositionLevel(*(column[begin:end].copy() for column in rows)))

    def build(self) -> PositionLevel:
        """Return all rows as a level; the builder is empty after that."""
        self._empty_buffer()
        # An array takes memory when it is written, and each range gives its own back.
        level = PositionLevel(
            *(np.empty(self.num_rows, column.dtype) for column in self._empty)
        )
        end = 0
        while self._ranges:
            rows = self._ranges.pop(0).merged()
            begin, end = end, end + len(rows.keys)
            for column, values in zip(level, rows, strict=True):
                column[begin:end] = values
        return PositionLevel(*(column[:end] for column in level))


@dataclasses.dataclass
class _Range:
    """The rows between two fences, as runs whose keys ascend."""

    empty: PositionLevel
    runs: list[PositionLevel] = dataclasses.field(default_factory=list)
    num_rows: int = 0  # in all runs
    num_merged: int = 0  # after the last merge

    def add(self, rows: PositionLevel) -> None:
        """Add rows whose keys ascend; merge all rows if there are many new ones."""
        self.runs.append(rows)
        self.num_rows += len(rows.keys)
        if self.num_rows > _GROWTH * self.num_merged:
            self.num_rows = self.num_merged = len(self.merged().keys)

    def merged(self) -> PositionLevel:
        """Merge all runs into one, and return it."""
        if len(self.runs) != 1:
            self.runs = [merge_rows(_joined([self.empty, *self.runs]))]
        return self.runs[0]


def merge_rows(rows: PositionLevel) -> PositionLevel:
    """Return the rows in order of their keys, with one row for each key.

    Chances and lines are added up. The parent is the first one, so that the same search
    always finds the same losing line.
    """
    if not len(rows.keys):
        return rows
    order = _order_of(rows.keys)
    keys = rows.keys[order]
    begin = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return PositionLevel(
        keys=keys[begin],
        chance=np.add.reduceat(rows.chance[order], begin),
        lines=np.add.reduceat(rows.lines[order], begin),
        parent=np.minimum.reduceat(rows.parent[order], begin),
    )


def _order_of(keys: PositionKeys) -> Int[np.ndarray, " R"]:
    """Return the order in which keys ascend.

    Bytes are sorted by their first eight, a hash, as numbers: five times as fast. If
    two different keys have the same hash, they are sorted by all bytes.
    """
    if keys.dtype.kind != "V":
        return np.argsort(keys)
    hashes = np.ascontiguousarray(keys[:, None].view("u1")[:, :8])
    hashes = hashes.view(">u8")[:, 0].astype("u8")
    order = np.argsort(hashes)
    hashes, ordered = hashes[order], keys[order]
    same_hash = hashes[1:] == hashes[:-1]
    if (same_hash & (ordered[1:] != ordered[:-1])).any():
        return np.argsort(keys)
    return order


def _joined(runs: Sequence[PositionLevel]) -> PositionLevel:
    return PositionLevel(*map(np.concatenate, zip(*runs, strict=True)))


def spill_to_disk(array: np.ndarray) -> np.ndarray:
    """Return a read-only vector of the same values, in a file if it is large.

    The file has no name, so it ends with the process, however that ends. Where the disk
    is full, the array stays in memory.
    """
    if array.nbytes <= _FILE_BYTES:
        return array
    try:
        with tempfile.TemporaryFile() as file:  # in the folder $TMPDIR
            array.tofile(file)
            file.flush()
            return np.memmap(file, array.dtype, "r", shape=array.shape)
    except OSError:
        return array


def free_disk_bytes() -> int:
    """Return how many bytes are free for such files."""
    return shutil.disk_usage(tempfile.gettempdir()).free
