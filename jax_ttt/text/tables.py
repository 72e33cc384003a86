"""Text for a terminal of 100 columns: aligned rows, wrapped sentences. Needs no JAX."""

import textwrap
from collections.abc import Sequence

WIDTH = 100
"""Columns of a terminal that tables and sentences fit."""
_GAP = 2


def aligned(labels: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, whose first row is the head.

    Cells are aligned on the right. If there is no room for the labels on the left, each
    stands in a line above its row.
    """
    widths = [max(map(len, column)) + _GAP for column in zip(*rows, strict=True)]
    longest = max(map(len, labels))
    beside = longest + sum(widths) <= WIDTH
    lines = []
    for label, cells in zip(labels, rows, strict=True):
        padded = (f"{cell:>{size}}" for cell, size in zip(cells, widths, strict=True))
        if label and not beside:
            lines += wrapped(label)
        begin = f"{label:<{longest}}" if beside else " " * _GAP
        lines.append(begin + "".join(padded))
    return lines


def wrapped(text: str) -> list[str]:
    """Return a text's lines; all but the first are indented."""
    return textwrap.wrap(text, WIDTH, subsequent_indent="    ")
