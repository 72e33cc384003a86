"""Pictures and their files.

Charts need the extra `plots` (matplotlib), boards as PNG and PDF `png` (cairosvg).
"""

import dataclasses
import functools
import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from jax_ttt.config.errors import Refused, UsageError
from jax_ttt.pictures import themes
from jax_ttt.pictures.themes import Theme
from jax_ttt.runtime import files

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".svg", ".png", ".pdf")
"""The endings of a picture's file."""
_DOTS_PER_INCH = 200  # of a PNG; an inch of a board has 100 pixels


@dataclasses.dataclass(frozen=True)
class Picture:
    """An SVG image; a notebook shows it."""

    svg: str = dataclasses.field(repr=False)  # else a notebook would hold it twice
    rendered: Callable[[str], bytes] | None = dataclasses.field(
        default=None, repr=False, compare=False
    )
    """Return the image as a file of another format, `png` or `pdf`; by default the SVG
    is converted."""

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Path) -> None:
        """Write the file, as SVG, PNG or PDF by its ending.

        Of a game that moves, PNG and PDF show the last board.

        Raises:
            Refused: the file has another ending, or cairosvg is needed and not
                installed.
            WriteError: the file can't be written.
        """
        ending = file_ending(path)
        if ending == ".svg":
            files.write_output(path, self.svg.encode())
        else:
            rendered = self.rendered or functools.partial(_converted, self.svg)
            files.write_output(path, rendered(ending[1:]))


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


def _converted(svg: str, file_format: str) -> bytes:
    """Return an SVG file as PNG or PDF."""
    try:
        import cairosvg  # type: ignore[import-not-found]
    except (ImportError, OSError):  # OSError: without the library Cairo
        raise Refused(
            "PNG and PDF of boards need cairosvg, and the library Cairo: "
            "pip install 'jax_ttt[png]'; SVG needs neither"
        ) from None
    convert = {"png": cairosvg.svg2png, "pdf": cairosvg.svg2pdf}[file_format]
    converted = convert(bytestring=svg.encode(), scale=_DOTS_PER_INCH // 100)
    assert isinstance(converted, bytes)  # not None, as no file is given
    return converted


def figure_picture(figure: "Figure", theme: Theme) -> Picture:
    """Return a figure as a picture; call it inside its theme's `style`."""
    svg = _file_bytes(figure, "svg").decode()
    return Picture(svg, functools.partial(_figure_file, figure, theme))


def _figure_file(figure: "Figure", theme: Theme, file_format: str) -> bytes:
    with themes.style(theme):
        return _file_bytes(figure, file_format)


def _file_bytes(figure: "Figure", file_format: str) -> bytes:
    """Return a figure as svg, png or pdf, without a date: the same each time."""
    undated = {"svg": "Date", "pdf": "CreationDate"}
    metadata = {name: None for key, name in undated.items() if key == file_format}
    written = io.BytesIO()
    figure.savefig(
        written, format=file_format, dpi=_DOTS_PER_INCH, metadata=metadata or None
    )
    return written.getvalue()
