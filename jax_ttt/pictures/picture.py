"""The colours of a light and a dark theme, and matplotlib's figures as pictures."""

import functools
import io
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from jax_ttt.config.errors import require_package
from jax_ttt.files.picture_file import DOTS_PER_INCH, Picture, Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Colours that Okabe and Ito (2008) chose for colour-blind readers; these have enough
# contrast on white or on black. Blue, grey and orange come first.
_COLOURS = {
    "light": ("#0072b2", "#595959", "#d55e00", "#009e73", "#cc79a7", "#000000"),
    "dark": ("#56b4e9", "#b0b0b0", "#e69f00", "#009e73", "#cc79a7", "#f0e442"),
}
BACKGROUND = {"light": "white", "dark": "#0d1117"}
"""The colour behind a picture."""
TILES = {"light": "#eef1f4", "dark": "#1f2630"}
"""The colour of a board's cells."""


def colours(theme: Theme) -> tuple[str, ...]:
    """Return blue, grey and orange: the colours of wins, draws and losses."""
    return _COLOURS[theme][:3]


def mix_colours(one: str, other: str, share: float) -> str:
    """Return a mixture of two colours, `#rrggbb`; `share` is the part of `other`."""
    pairs = zip(_rgb(one), _rgb(other), strict=True)
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in pairs)


def text_colour(behind: str) -> str:
    """Return black or white, whichever is easier to read on `behind`, `#rrggbb`."""
    red, green, blue = _rgb(behind)
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "white"


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))


def theme_style(theme: Theme) -> AbstractContextManager[None]:
    """Return the context in which a figure is drawn and written.

    In it, the same data give the same SVG file: matplotlib names elements by a hash.

    Raises:
        Refused: matplotlib is not installed.
    """
    require_package("matplotlib", "plots", "this picture")
    import matplotlib as mpl
    from cycler import cycler  # matplotlib's own
    from matplotlib import style

    # Lines have no grey: it marks draws, proofs and published results.
    line_colours = [_COLOURS[theme][i] for i in (0, 2, 3, 4, 5)]
    base = dict(style.library["dark_background"]) if theme == "dark" else {}
    return mpl.rc_context(
        {
            **base,
            "axes.prop_cycle": cycler(color=line_colours),
            "axes.facecolor": BACKGROUND[theme],
            "figure.facecolor": BACKGROUND[theme],
            "savefig.facecolor": BACKGROUND[theme],
            "grid.alpha": 0.3,
            "font.size": 11,
            "svg.fonttype": "none",
            "svg.hashsalt": "jax_ttt",
        }
    )


def figure_picture(figure: "Figure", theme: Theme) -> Picture:
    """Return a figure as a picture; call it inside `theme_style`."""
    svg = _file_bytes(figure, "svg").decode()
    return Picture(svg, functools.partial(_figure_file, figure, theme))


def _figure_file(figure: "Figure", theme: Theme, file_format: str) -> bytes:
    with theme_style(theme):
        return _file_bytes(figure, file_format)


def _file_bytes(figure: "Figure", file_format: str) -> bytes:
    """Return a figure as svg, png or pdf, without a date, so that files are equal."""
    undated = {"svg": "Date", "pdf": "CreationDate"}
    metadata = {name: None for key, name in undated.items() if key == file_format}
    buffer = io.BytesIO()
    figure.savefig(
        buffer, format=file_format, dpi=DOTS_PER_INCH, metadata=metadata or None
    )
    return buffer.getvalue()
