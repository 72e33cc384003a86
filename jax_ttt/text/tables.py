"""Text for a terminal of 100 columns: tables and wrapped sentences."""

import textwrap
from collections.abc import Collection, Sequence

WIDTH = 100
"""The width of tables and sentences at most, in columns of the terminal."""
GAP = "  "
"""The space between two columns of a table."""


def aligned_lines(
    rows: Sequence[Sequence[str]],
    left: Collection[int] = (0,),
    *,
    labels_above: bool = False,
) -> list[str]:
    """Return the lines of a table; the first row may be its head.

    All rows have the same number of cells, and a column is as wide as its longest cell.
    The columns with numbers in `left` are aligned on the left, for words; all others on
    the right, for numbers. With `labels_above`, a table that is wider than the terminal
    has each cell of its first column on a line above the other cells of its row.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if labels_above and sum(widths) + len(GAP) * (len(widths) - 1) > WIDTH:
        labels = [row[0] for row in rows]
        lines = aligned_lines([("", *cells) for _, *cells in rows], left)
        return [
            text
            for label, line in zip(labels, lines, strict=True)
            for text in (*wrapped_lines(label), line)
        ]
    return [
        GAP.join(
            f"{cell:<{width}}" if place in left else f"{cell:>{width}}"
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def wrapped_lines(text: str) -> list[str]:
    """Return a text's lines; all but the first are indented."""
    return textwrap.wrap(text, WIDTH, subsequent_indent="    ")
