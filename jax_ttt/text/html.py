"""HTML of results for notebooks: tables, text and pictures."""

import html
from collections.abc import Callable, Sequence

from jax_ttt.config.errors import Refused
from jax_ttt.files.picture_file import Picture


def html_table(
    title: str, rows: Sequence[Sequence[object]], head: Sequence[object] = ()
) -> str:
    """Return a table with a title and, if `head` is given, column names."""
    lines = [_row(head, "th")] if head else []
    lines += [_row(row, "td") for row in rows]
    return f"<p>{html.escape(title)}</p>\n<table>\n{chr(10).join(lines)}\n</table>"


def _row(cells: Sequence[object], tag: str) -> str:
    cell_tags = (f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells)
    return f"<tr>{''.join(cell_tags)}</tr>"


def preformatted(lines: str) -> str:
    """Return lines of text in a monospaced font."""
    return f"<pre>{html.escape(lines)}</pre>"


def with_picture(text: str, picture: Callable[[], Picture], alone: str = "") -> str:
    """Return the HTML `text` with a picture below it.

    `picture` draws it. Without matplotlib, which is optional, and for a game that is
    not drawn, there is only text: `alone`, by default `text`.
    """
    try:
        svg = picture().svg
        # Without the XML prolog, which is not allowed within a page.
        return f"<div>{text}\n{svg[svg.index('<svg') :]}</div>"
    except Refused:
        return f"<div>{alone or text}</div>"
