"""HTML of results for notebooks: tables, text and pictures."""

import html
from collections.abc import Callable, Sequence

from jax_ttt.pictures.picture import Picture


def table_of(
    title: str, rows: Sequence[Sequence[object]], head: Sequence[object] = ()
) -> str:
    """Return a table with a title and, if `head` is given, column names."""
    lines = [_row(head, "th")] if head else []
    lines += [_row(row, "td") for row in rows]
    return f"<p>{html.escape(title)}</p>\n<table>\n{chr(10).join(lines)}\n</table>"


def _row(cells: Sequence[object], tag: str) -> str:
    written = (f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells)
    return f"<tr>{''.join(written)}</tr>"


def preformatted(lines: str) -> str:
    """Return lines of text in a monospaced font."""
    return f"<pre>{html.escape(lines)}</pre>"


def with_picture(described: str, picture: Callable[[], Picture]) -> str:
    """Return the HTML `described` and a picture; no picture without `plots`."""
    try:
        svg = picture().svg
        # Without the XML prolog, which is not allowed within a page.
        return f"<div>{described}\n{svg[svg.index('<svg') :]}</div>"
    except ImportError:  # matplotlib is optional
        return f"<div>{described}</div>"
