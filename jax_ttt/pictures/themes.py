"""Colours of pictures in a light and a dark theme."""

from contextlib import AbstractContextManager
from typing import Literal

Theme = Literal["light", "dark"]

# Of the colours that Okabe and Ito (2008) chose for colour-blind readers, those that
# stand out on white and on black; blue, grey and orange come first.
_COLOURS = {
    "light": ("#0072b2", "#595959", "#d55e00", "#009e73", "#cc79a7", "#000000"),
    "dark": ("#56b4e9", "#b0b0b0", "#e69f00", "#009e73", "#cc79a7", "#f0e442"),
}
_BACKGROUND = {"light": "white", "dark": "#0d1117"}
_TILES = {"light": "#eef1f4", "dark": "#1f2630"}


def colours(theme: Theme) -> tuple[str, ...]:
    """Return blue, grey and orange: of wins, draws and losses."""
    return _COLOURS[theme][:3]


def tile(theme: Theme) -> str:
    """Return the colour of a board's cells."""
    return _TILES[theme]


def background(theme: Theme) -> str:
    """Return the colour behind a picture."""
    return _BACKGROUND[theme]


def mixed(one: str, other: str, share: float) -> str:
    """Return a colour between two, `#rrggbb` each; `share` is that of the other one."""
    pairs = zip(_parts(one), _parts(other), strict=True)
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in pairs)


def ink(behind: str) -> str:
    """Return the colour of a text on a colour, `#rrggbb`: black or white."""
    red, green, blue = _parts(behind)
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "white"


def _parts(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))


def style(theme: Theme) -> AbstractContextManager[None]:
    """Return the context of a figure; in it, the same data give the same text."""
    import matplotlib as mpl
    from cycler import cycler  # matplotlib's own
    from matplotlib import style

    # Of lines with other meanings: grey is for what is not ours.
    line_colours = [_COLOURS[theme][i] for i in (0, 2, 3, 4, 5)]
    base = dict(style.library["dark_background"]) if theme == "dark" else {}
    return mpl.rc_context(
        {
            **base,
            "axes.prop_cycle": cycler(color=line_colours),
            "axes.facecolor": _BACKGROUND[theme],
            "figure.facecolor": _BACKGROUND[theme],
            "savefig.facecolor": _BACKGROUND[theme],
            "grid.alpha": 0.3,
            "font.size": 11,
            "svg.fonttype": "none",
            "svg.hashsalt": "jax_ttt",
        }
    )
