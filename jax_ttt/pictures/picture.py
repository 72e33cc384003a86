"""Pictures and their files.

All but boards as SVG need the extra `plots` (matplotlib).
"""

import dataclasses
import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from jax_ttt.config.errors import Refused, UsageError
from jax_ttt.pictures import shapes, themes
from jax_ttt.pictures.themes import Theme
from jax_ttt.runtime import files

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".svg", ".png", ".pdf")
"""The endings of a picture's file."""


@dataclasses.dataclass(frozen=True)
class Picture:
    """An SVG image; a notebook shows it."""

    svg: str = dataclasses.field(repr=False)  # else a notebook would hold it twice
    rendered: Callable[[str], bytes] | None = dataclasses.field(
        default=None, repr=False, compare=False
    )
    """Return the image as a file of another format, `png` or `pdf`."""

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Path) -> None:
        """Write the file, as SVG, PNG or PDF by its ending.

        Of a game that moves, PNG and PDF show the last board.

        Raises:
            Refused: the file has another ending, or there is no such file of this
                picture.
            WriteError: the file can't be written.
        """
        ending = file_ending(path)
        if ending == ".svg":
            files.write_output(path, self.svg.encode())
        elif self.rendered is None:
            raise Refused(f"{path}: the boards of this game are drawn as .svg only")
        else:
            files.write_output(path, self.rendered(ending[1:]))


def file_ending(path: Path) -> str:
    """Return a picture's ending, one of `FORMATS`.

    Raises:
        Refused: it is another one.
    """
    if (ending := path.suffix.lower()) not in FORMATS:
        raise Refused(f"{path}: a picture's file ends in .svg, .png or .pdf")
    return ending


def check_file(flag: str, path: Path | None) -> None:
    """Raise `UsageError`, before any work, if a picture's file has another ending."""
    try:
        if path is not None:
            file_ending(path)
    except Refused as error:
        raise UsageError(f"{flag} {error}") from None


def figure_picture(figure: "Figure", theme: Theme) -> Picture:
    """Return a figure as a picture; call it inside its theme's `style`."""
    svg = shapes.file_bytes(figure, "svg").decode()
    return Picture(svg, functools.partial(_figure_file, figure, theme))


def _figure_file(figure: "Figure", theme: Theme, file_format: str) -> bytes:
    with themes.style(theme):
        return shapes.file_bytes(figure, file_format)
