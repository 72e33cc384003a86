"""Colours of a terminal's text."""

import io
import os
from typing import TextIO

from rich.color import ColorSystem
from rich.style import Style


def is_coloured(stream: TextIO | io.TextIOBase) -> bool:
    """Return whether to colour a stream: a terminal, without NO_COLOR."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not plain


def painted(text: str, style: str) -> str:
    """Return text in a style of rich, for instance `bold green`, for a terminal."""
    return Style.parse(style).render(text, color_system=ColorSystem.STANDARD)
