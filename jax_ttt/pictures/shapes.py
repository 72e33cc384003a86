"""Shapes of a picture as SVG text, or as a PNG or PDF by matplotlib.

Lengths are pixels of a picture at its own size; `y` grows downwards.
"""

import dataclasses
import html
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Number = int | float
Point = tuple[Number, Number]

_DOTS_PER_INCH = 200
_POINTS = 0.72  # points in a pixel, of which an inch has 100


@dataclasses.dataclass(frozen=True)
class Line:
    """A straight line with round ends."""

    start: Point
    end: Point
    colour: str
    width: Number


@dataclasses.dataclass(frozen=True)
class Ring:
    """A hollow circle."""

    centre: Point
    radius: Number
    colour: str
    width: Number


@dataclasses.dataclass(frozen=True)
class Tile:
    """A filled square with round corners, with a border where `border` is not 0."""

    corner: Point
    size: Number
    radius: Number
    fill: str
    border_colour: str = "none"
    border: Number = 0


@dataclasses.dataclass(frozen=True)
class Label:
    """A text; `at` is the left end of its baseline."""

    at: Point
    text: str
    colour: str
    size: Number


Shape: TypeAlias = Line | Ring | Tile | Label


def svg_element(shape: Shape) -> str:
    """Return a shape as an element of SVG."""
    match shape:
        case Line((x1, y1), (x2, y2), colour, width):
            return (
                f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" '
                f'stroke="{colour}" stroke-width="{width:g}" stroke-linecap="round"/>'
            )
        case Ring((x, y), radius, colour, width):
            return (
                f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="none" '
                f'stroke="{colour}" stroke-width="{width:g}"/>'
            )
        case Tile((x, y), size, radius, fill, border_colour, border):
            return (
                f'<rect x="{x:g}" y="{y:g}" width="{size:g}" height="{size:g}" '
                f'rx="{radius:g}" fill="{fill}" stroke="{border_colour}" '
                f'stroke-width="{border:g}"/>'
            )
        case Label((x, y), text, colour, size):
            return (
                f'<text x="{x:g}" y="{y:g}" fill="{colour}" font-size="{size:g}" '
                f'font-family="sans-serif">{html.escape(text)}</text>'
            )


def svg_page(size: Point, elements: Iterable[str], title: str) -> str:
    """Return a whole SVG file of `size`, width and height.

    A viewer may show it larger or smaller; a screen reader says `title`.
    """
    width, height = size
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink" width="{width:g}" '
        f'height="{height:g}" viewBox="0 0 {width:g} {height:g}" role="img">'
        f"<title>{html.escape(title)}</title>{''.join(elements)}</svg>"
    )


def filled(size: Point, colour: str) -> str:
    """Return the element that fills a picture with a colour."""
    width, height = size
    return f'<rect width="{width:g}" height="{height:g}" fill="{colour}"/>'


def rendered(
    shapes: Sequence[Shape], size: Point, colour: str, file_format: str
) -> bytes:
    """Return shapes on a background as a file that matplotlib writes: png or pdf."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(size[0] / 100, size[1] / 100), facecolor=colour)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, size[0]), ylim=(size[1], 0))
    axes.set_axis_off()
    for shape in shapes:
        _add(axes, shape)
    return file_bytes(figure, file_format)


def _add(axes: "Axes", shape: Shape) -> None:
    from matplotlib import patches

    match shape:
        case Line((x1, y1), (x2, y2), colour, width):
            style = {"color": colour, "lw": width * _POINTS}
            axes.plot([x1, x2], [y1, y2], solid_capstyle="round", **style)
        case Ring(centre, radius, colour, width):
            style = {"edgecolor": colour, "lw": width * _POINTS}
            axes.add_patch(patches.Circle(centre, radius, fill=False, **style))
        case Tile(corner, size, radius, fill, border_colour, border):
            box = f"round,pad=0,rounding_size={radius}"
            tile = patches.FancyBboxPatch(corner, size, size, boxstyle=box)
            tile.set(facecolor=fill, edgecolor=border_colour, lw=border * _POINTS)
            axes.add_patch(tile)
        case Label((x, y), text, colour, size):
            axes.text(x, y, text, color=colour, fontsize=size * _POINTS)


def file_bytes(figure: "Figure", file_format: str) -> bytes:
    """Return a figure as svg, png or pdf, without a date: the same each time."""
    undated = {"svg": "Date", "pdf": "CreationDate"}
    metadata = {name: None for key, name in undated.items() if key == file_format}
    written = io.BytesIO()
    figure.savefig(
        written, format=file_format, dpi=_DOTS_PER_INCH, metadata=metadata or None
    )
    return written.getvalue()
