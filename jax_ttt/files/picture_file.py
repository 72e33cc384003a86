"""Pictures as SVG, and their files as SVG, PNG and PDF."""

import dataclasses
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from jax_ttt.config.errors import Refused
from jax_ttt.runtime import atomic_files

Theme = Literal["light", "dark"]
FORMATS = (".svg", ".png", ".pdf")
"""The endings of a picture's file."""
DOTS_PER_INCH = 200
"""Of a PNG; a board has 100 pixels per inch in its SVG."""


@dataclasses.dataclass(frozen=True)
class Picture:
    """An SVG image; a notebook shows it."""

    svg: str = dataclasses.field(repr=False)  # a notebook stores the repr as well
    render: Callable[[str], bytes] | None = dataclasses.field(
        default=None, repr=False, compare=False
    )
    """Returns the bytes of a `png` or `pdf` file; by default cairosvg converts the
    SVG."""

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file; its ending selects SVG, PNG or PDF.

        An animated game is shown by its last board in PNG and PDF.

        Raises:
            Refused: the file has another ending, or cairosvg is needed and not
                installed.
            WriteError: the file can't be written.
        """
        ending = file_ending(path)
        content = self.svg.encode()
        if ending != ".svg":
            render = self.render or functools.partial(_convert_svg, self.svg)
            content = render(ending[1:])
        atomic_files.write_output(Path(path), content)


def file_ending(path: str | os.PathLike[str]) -> str:
    """Return a picture's ending, one of `FORMATS`.

    Raises:
        Refused: the path has another ending.
    """
    if (ending := Path(path).suffix.lower()) not in FORMATS:
        raise Refused(f"{path}: a picture's file ends in .svg, .png or .pdf")
    return ending


def check_picture_file(flag: str, path: Path | None) -> None:
    """Raise `Refused`, before any work, if a picture's file has another ending."""
    try:
        if path is not None:
            file_ending(path)
    except Refused as error:
        raise Refused(f"{flag} {error}") from None


def _convert_svg(svg: str, file_format: str) -> bytes:
    """Return an SVG file as PNG or PDF."""
    try:
        import cairosvg  # type: ignore[import-not-found]
    except (ImportError, OSError):  # OSError: without the library Cairo
        raise Refused(
            "PNG and PDF of boards need cairosvg, and the library Cairo: "
            "pip install 'jax_ttt[png]'; SVG needs neither"
        ) from None
    convert = {"png": cairosvg.svg2png, "pdf": cairosvg.svg2pdf}[file_format]
    converted = convert(bytestring=svg.encode(), scale=DOTS_PER_INCH // 100)
    assert isinstance(converted, bytes)  # not None, as no file is given
    return converted
