"""Text that fits the terminal: tables and wrapped sentences."""

import shutil
import textwrap
from collections.abc import Collection, Sequence

GAP = "  "
"""The space between two columns of a table."""
_NARROWEST = 40
"""The least number of columns that text is made for."""


def terminal_width() -> int:
    """Return the number of columns of the terminal, or $COLUMNS if it is set.

    It is 80 if stdout is a file or a pipe, so that what is written there is the same
    everywhere.
    """
    size = shutil.get_terminal_size(fallback=(80, 24))
    return max(size.columns, _NARROWEST)


def aligned_lines(
    rows: Sequence[Sequence[str]], left: Collection[int] = (0,)
) -> list[str]:
    """Return the lines of a table; the first row may be its head.

    All rows have the same number of cells, and a column is as wide as its longest cell.
    The columns with numbers in `left` are aligned on the left, for words; all others on
    the right, for numbers.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        GAP.join(
            f"{cell:<{width}}" if place in left else f"{cell:>{width}}"
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def table_lines(
    rows: Sequence[Sequence[str]], left: Collection[int] = (0,)
) -> list[str]:
    """Return the lines of a table that fits the terminal; the first row is its head.

    If the table is too wide, the first cell of each row stands on a line above the
    others; if these are still too wide, each of them is on a line with its head.
    """
    lines = aligned_lines(rows, left)
    if _fits(lines):
        return lines
    heads, *fields = [row[1:] for row in rows]
    labels = [row[0] for row in rows]
    lines = aligned_lines([("", *cells) for cells in (heads, *fields)], left)
    blocks = [[line] for line in lines]
    if not _fits(lines):
        blocks = [[]]
        for cells in fields:
            pairs = zip(heads, cells, strict=True)
            blocks.append(hanging_lines([(f"  {head}", cell) for head, cell in pairs]))
    return [
        line
        for label, block in zip(labels, blocks, strict=True)
        for line in (*wrapped_lines(label), *block)
    ]


def hanging_lines(rows: Sequence[tuple[str, str]]) -> list[str]:
    """Return names with their texts in a column, which are wrapped there."""
    width = max((len(name) for name, _ in rows), default=0)
    indent = " " * (width + len(GAP))
    return [
        line
        for name, text in rows
        for line in wrapped_lines(f"{name:<{width}}{GAP}{text}", indent)
    ]


def wrapped_lines(text: str, indent: str = "    ") -> list[str]:
    """Return a text's lines; all but the first are indented. Paths stay whole."""
    return textwrap.wrap(
        text,
        terminal_width(),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def filled_text(text: str) -> str:
    """Return text whose lines fit, with more space before the second part of each."""
    lines: list[str] = []
    for line in text.splitlines():
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        lines += wrapped_lines(line, indent) or [""]
    return "\n".join(lines)


def fitted_text(text: str) -> str:
    """Return text whose lines fit the terminal; in a file or a pipe they stay whole.

    Long lines are wrapped if stdout is a terminal, or $COLUMNS is set.
    """
    if not shutil.get_terminal_size(fallback=(0, 0)).columns:
        return text
    lines = text.split("\n")
    return "\n".join(
        line if _fits([line]) else "\n".join(wrapped_lines(line)) for line in lines
    )


def _fits(lines: Sequence[str]) -> bool:
    return max(map(len, lines), default=0) <= terminal_width()
