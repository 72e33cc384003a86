"""Boards of stones as shapes: crosses and rings on tiles.

Axes: `B` boards, `H` rows, `W` columns.
"""

import dataclasses
import itertools
import math
from collections.abc import Iterator

import numpy as np
from jaxtyping import Int, Shaped

from jax_ttt.pictures.shapes import Label, Line, Number, Point, Ring, Shape, Tile


@dataclasses.dataclass(frozen=True)
class Look:
    """Colours of a board, and the pixels of a cell."""

    cross: str
    ring: str
    tile: str
    number: str
    cell: int

    @property
    def margin(self) -> Number:
        """Pixels around each board."""
        return self.cell / 6


def boards_size(cells: Shaped[np.ndarray, "B H W"], look: Look) -> Point:
    """Return the width and height of boards in rows of the same length."""
    across = _across(len(cells))
    down = math.ceil(len(cells) / across)
    width, height = _board_size(cells, look)
    return across * width, down * height


def _across(num_boards: int) -> int:
    return math.ceil(math.sqrt(num_boards))


def _board_size(cells: Shaped[np.ndarray, "B H W"], look: Look) -> Point:
    _, rows, columns = cells.shape
    both = 2 * look.margin
    return columns * look.cell + both, rows * look.cell + both


def move_numbers(
    boards: list[Shaped[np.ndarray, "B H W"]], free: str
) -> list[Int[np.ndarray, "B H W"]]:
    """Return for each of the boards in turn which move set each stone, from 1 on.

    0 is a free cell, and a stone that was there before the first move.
    """
    numbers = [np.zeros(boards[0].shape, int)]
    for before, after in itertools.pairwise(boards):
        kept = np.where(after == free, 0, numbers[-1])
        added = (before == free) & (after != free)
        numbers.append(np.where(added, len(numbers), kept))
    return numbers


def board_shapes(
    cells: Shaped[np.ndarray, "B H W"],
    letters: tuple[str, str],
    numbers: Int[np.ndarray, "B H W"],
    look: Look,
) -> list[Shape]:
    """Draw boards: crosses for the first letter, rings for the second.

    A stone with a number shows it, and each board's greatest number has a border: it
    is the last move.
    """
    shapes: list[Shape] = []
    width, height = _board_size(cells, look)
    across = _across(len(cells))
    for board, rows in enumerate(cells):
        last = max(int(numbers[board].max()), 1)
        for (row, column), stone in np.ndenumerate(rows):
            x = board % across * width + look.margin + column * look.cell
            y = board // across * height + look.margin + row * look.cell
            number = int(numbers[board, row, column])
            kind = letters.index(stone) if stone in letters else None
            shapes += _cell((x, y), kind, number, number == last, look)
    return shapes


def _cell(
    corner: Point, kind: int | None, number: int, is_last: bool, look: Look
) -> Iterator[Shape]:
    (x, y), cell = corner, look.cell
    colour = (look.cross, look.ring)[kind or 0]
    border = (colour, cell / 20) if is_last else ("none", 0)
    gap = cell / 30 + border[1] / 2
    yield Tile((x + gap, y + gap), cell - 2 * gap, cell / 12, look.tile, *border)
    low, high, width = 0.29 * cell, 0.71 * cell, cell / 10
    if kind == 0:
        yield Line((x + low, y + low), (x + high, y + high), colour, width)
        yield Line((x + low, y + high), (x + high, y + low), colour, width)
    elif kind == 1:
        yield Ring((x + cell / 2, y + cell / 2), 0.25 * cell, colour, width)
    if number:
        size = max(0.13 * cell, 8)  # that can still be read
        place = (x + 0.12 * cell, y + 0.1 * cell + 0.85 * size)
        yield Label(place, str(number), look.number, size)
