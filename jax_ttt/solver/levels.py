"""Levels of reached positions, in which equal positions are merged. NumPy.

Axes: `P` positions of a level, ascending by key.
"""

import dataclasses
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt64

_ROWS = 2**22
"""Rows that are collected before equal ones are merged."""


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
class Collected:
    """The rows of a level that is being found.

    They are merged when they are twice as many as after the last time, so that each
    row is sorted a few times at most.
    """

    parts: list[Level] = dataclasses.field(default_factory=lambda: [EMPTY])
    num_rows: int = 0
    num_merged: int = 0
    """Different positions, at least."""

    def add(self, rows: Level) -> None:
        """Add rows, in any order."""
        self.parts.append(rows)
        self.num_rows += len(rows.keys)
        if self.num_rows >= max(2 * self.num_merged, _ROWS):
            self.parts = [self.merged()]
            self.num_rows = self.num_merged = len(self.parts[0].keys)

    def merged(self) -> Level:
        """Return all rows as a level."""
        return merge(Level(*map(np.concatenate, zip(*self.parts, strict=True))))
