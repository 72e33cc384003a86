"""Large arrays in files instead of memory.

The files have no names: they end with the process, however it ends.
"""

import dataclasses
import shutil
import tempfile
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt64

_SMALL = 2**20
"""Bytes of an array that stays in memory."""


def moved(array: np.ndarray) -> np.ndarray:
    """Return a vector of the same values, to be read: in a file if it is large.

    Where the disk is full, it stays in memory.
    """
    if array.nbytes <= _SMALL:
        return array
    try:
        with tempfile.TemporaryFile() as file:  # in the folder $TMPDIR
            array.tofile(file)
            file.flush()
            return np.memmap(file, array.dtype, "r", shape=array.shape)
    except OSError:
        return array


def free_disk_bytes() -> int:
    """Return the bytes that are free for such files."""
    return shutil.disk_usage(tempfile.gettempdir()).free


_ROWS = 2**21
"""Rows that are collected before equal ones are merged."""
_PARTS = 64
"""Most ranges of keys that are sorted each on its own."""
_SMALL = 2**14
"""Positions of the level before for each range, at least."""


class Level(NamedTuple):
    """The positions after so many moves; a row of 28 bytes for each."""

    keys: UInt64[np.ndarray, " P"]
    chance: Float[np.ndarray, " P"]  # float64: a random opponent's games get there
    lines: UInt64[np.ndarray, " P"]  # lines of play that lead there
    parent: Int[np.ndarray, " P"]  # uint32, a position of the level before


EMPTY = Level(*(np.zeros(0, dtype) for dtype in ("u8", "f8", "u8", "u4")))


def merge(rows: Level) -> Level:
    """Return the rows in order of their keys, equal keys merged.

    Chances and lines are added up; of the parents, the first is kept.
    """
    if not len(rows.keys):
        return rows
    order = np.argsort(rows.keys)
    keys = rows.keys[order]
    begin = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return Level(
        keys[begin],
        np.add.reduceat(rows.chance[order], begin),
        np.add.reduceat(rows.lines[order], begin),
        np.minimum.reduceat(rows.parent[order], begin),
    )


@dataclasses.dataclass
class _Part:
    """Rows of a range of keys, sorted when they are half as many again."""

    runs: list[Level] = dataclasses.field(default_factory=list)  # each merged
    num_rows: int = 0
    num_merged: int = 0

    def add(self, rows: Level) -> None:
        """Add merged rows."""
        self.runs.append(rows)
        self.num_rows += len(rows.keys)
        if 2 * self.num_rows > 3 * self.num_merged:
            self.num_rows = self.num_merged = len(self.merged().keys)

    def merged(self) -> Level:
        """Merge all rows, and return them."""
        if len(self.runs) != 1:
            self.runs = [merge(_joined([EMPTY, *self.runs]))]
        return self.runs[0]


class Collected:
    """The rows of a level that is being found.

    They are kept in parts by ranges of keys, so that a sort copies one part only.
    """

    def __init__(self, before: UInt64[np.ndarray, " P"]) -> None:
        """Begin with no rows; the ranges are those of the keys of the level before."""
        num_parts = min(1 + len(before) // _SMALL, _PARTS)
        places = np.linspace(0, len(before), num_parts + 1)[1:-1].astype(int)
        self._bounds = before[places]
        self._parts = [_Part() for _ in range(len(self._bounds) + 1)]
        self._waiting: list[Level] = []
        self._num_waiting = 0

    @property
    def num_merged(self) -> int:
        """Different positions, at least."""
        return sum(part.num_merged for part in self._parts)

    @property
    def num_rows(self) -> int:
        """Rows in memory."""
        return self._num_waiting + sum(part.num_rows for part in self._parts)

    def add(self, rows: Level) -> None:
        """Add rows, in any order."""
        self._waiting.append(rows)
        self._num_waiting += len(rows.keys)
        if self._num_waiting >= _ROWS:
            self._distribute()

    def _distribute(self) -> None:
        rows = merge(_joined([EMPTY, *self._waiting]))
        self._waiting, self._num_waiting = [], 0
        places = [0, *np.searchsorted(rows.keys, self._bounds), len(rows.keys)]
        for part, begin, end in zip(self._parts, places, places[1:], strict=False):
            if begin < end:
                part.add(Level(*(column[begin:end].copy() for column in rows)))

    def merged(self) -> Level:
        """Return all rows as a level; nothing is left here."""
        self._distribute()
        # Memory of a new array is taken when it is written, and a part's is given back.
        level = Level(*(np.empty(self.num_rows, x.dtype) for x in EMPTY))
        end = 0
        while self._parts:
            part = self._parts.pop(0)
            rows = part.merged()
            begin, end = end, end + len(rows.keys)
            for column, values in zip(level, rows, strict=True):
                column[begin:end] = values
        return Level(*(column[:end] for column in level))


def _joined(runs: Sequence[Level]) -> Level:
    return Level(*map(np.concatenate, zip(*runs, strict=True)))
