"""Colours of a terminal's text."""

import dataclasses
import io
import os
import sys
from collections.abc import Callable
from typing import TextIO

from rich.color import ColorSystem
from rich.style import Style


def is_coloured(stream: TextIO | io.TextIOBase) -> bool:
    """Return whether to colour a stream: a terminal, without NO_COLOR."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not plain


def styled_text(text: str, style: str) -> str:
    """Return text in a style of rich, for instance `bold green`, for a terminal."""
    return Style.parse(style).render(text, color_system=ColorSystem.STANDARD)


LINES, PLAIN_LINES = "│─┼", "|-+"
"""A board's vertical and horizontal lines and crossings; those of ASCII."""


@dataclasses.dataclass(frozen=True)
class Screen:
    """A terminal, or what stands for it."""

    ask: Callable[[str], str]  # shows a prompt, returns a line; may raise EOFError
    say: Callable[[str], None]  # shows one line or several
    coloured: bool = False
    lines: str = PLAIN_LINES

    def paint(self, text: str, style: str) -> str:
        """Return text in a style of rich where there are colours; "" is no style."""
        return styled_text(text, style) if self.coloured and style else text


def standard_screen() -> Screen:
    """Return the screen of stdin and stdout."""
    coloured = is_coloured(sys.stdout)
    try:
        LINES.encode(sys.stdout.encoding or "ascii")
    except UnicodeError:
        return Screen(_asked, _said, coloured)
    return Screen(_asked, _said, coloured, LINES)


def _asked(prompt: str) -> str:
    try:
        return input(prompt)
    except UnicodeDecodeError:
        return "\N{REPLACEMENT CHARACTER}"


def _said(text: str) -> None:
    print(text, flush=True)
