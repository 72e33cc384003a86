"""The terminal in which a person plays: input, output, colours and lines."""

import dataclasses
import io
import os
import sys
from collections.abc import Callable
from typing import TextIO

_CODES = {
    "bold": 1,
    "dim": 2,
    "underline": 4,
    "red": 31,
    "green": 32,
    "blue": 34,
    "magenta": 35,
}
"""A terminal's codes (SGR) of the words of a style."""


def is_coloured(stream: TextIO | io.TextIOBase) -> bool:
    """Return whether to colour a stream: it is a terminal, and NO_COLOR is not set."""
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not is_plain


def styled_text(text: str, style: str) -> str:
    """Return text with the codes of a style, for a terminal.

    `style` has one or more words of `_CODES`, for instance `bold green`.
    """
    codes = ";".join(str(_CODES[word]) for word in style.split())
    return f"\x1b[{codes}m{text}\x1b[0m"


LINES, PLAIN_LINES = "│─┼", "|-+"
"""A board's vertical line, horizontal line and crossing; the same in ASCII."""


@dataclasses.dataclass(frozen=True)
class Screen:
    """A terminal as two functions, so that a test or a notebook can replace it."""

    ask: Callable[[str], str]  # shows a prompt, returns a line; may raise EOFError
    say: Callable[[str], None]  # shows one or more lines
    coloured: bool = False
    lines: str = PLAIN_LINES

    def paint(self, text: str, style: str) -> str:
        """Return text in a style of `styled_text`, if the screen has colours.

        The style "" changes nothing.
        """
        return styled_text(text, style) if self.coloured and style else text


def standard_screen() -> Screen:
    """Return the screen of stdin and stdout."""
    lines = LINES
    try:
        lines.encode(sys.stdout.encoding or "ascii")
    except UnicodeError:
        lines = PLAIN_LINES
    return Screen(
        ask=_read_line,
        say=_print_text,
        coloured=is_coloured(sys.stdout),
        lines=lines,
    )


def _read_line(prompt: str) -> str:
    """Return a line of stdin; bytes that are not text become a wrong command."""
    try:
        return input(prompt)
    except UnicodeDecodeError:
        return "\N{REPLACEMENT CHARACTER}"


def _print_text(text: str) -> None:
    print(text, flush=True)
