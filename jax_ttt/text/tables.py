"""Text for a terminal of 100 columns: tables, wrapped sentences. Needs no JAX."""

import textwrap
from collections.abc import Collection, Sequence

WIDTH = 100
"""Columns of a terminal that tables and sentences fit."""
GAP = "  "
"""Between two columns of a table."""


def aligned_lines(
    rows: Sequence[Sequence[str]],
    left: Collection[int] = (0,),
    *,
    labels_above: bool = False,
) -> list[str]:
    """Return the lines of a table; the first row may be its head.

    A column is as wide as its longest cell. The columns numbered in `left` are aligned
    on the left, as words are, all others on the right, as numbers are. All rows have
    the same number of cells. With `labels_above`, a table that is wider than the
    terminal has the cells of its first column in lines of their own, each above the
    rest of its row.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if labels_above and sum(widths) + len(GAP) * (len(widths) - 1) > WIDTH:
        rest = aligned_lines([("", *cells) for _, *cells in rows], left)
        pairs = zip(rows, rest, strict=True)
        return [line for row, text in pairs for line in (*wrapped_lines(row[0]), text)]
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
