"""Parts of charts: figures, ticks, legends and heat maps.

They need the extra `plots`. matplotlib is imported inside the functions, so that the
modules that import these can be loaded without it.

Axes: `R` rows, `C` columns.
"""

import re
from collections.abc import Sequence, Sized
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

FEW = 12
"""Maximum number of points of a line that get markers. Without one, a single point is
invisible."""


def new_figure(width: float | int, height: float | int) -> "Figure":
    """Return an empty figure of this size in inches, with an automatic layout."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def break_name(name: str, width: int = 24, most: int = 3) -> str:
    """Break a name into at most `most` lines of about `width` characters.

    Lines break after a space, slash, dash or underscore where possible. If a name needs
    more lines, its middle is left out.
    """
    lines = [""]
    for part in re.findall(rf"[^ /_-]{{1,{width - 1}}}[ /_-]?|[ /_-]", name):
        if len(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    if len(lines) > most:
        first, *last = lines[0], *lines[1 - most :]
        lines = [first, f"…{last[0]}", *last[1:]]
    return "\n".join(line.strip() for line in lines)


def point_marker(points: Sized) -> str:
    """Return the marker for the points of a line: none if there are many."""
    return "o" if len(points) <= FEW else ""


def set_whole_ticks(
    axis: "Axis", largest: int, inches: float | int, text: str = "{x:,.0f}"
) -> None:
    """Put the ticks of an axis at whole numbers, as many as fit.

    The axis is `inches` long; `largest` is its greatest number, and `text` the format.
    """
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    label = 0.11 * len(text.format(x=largest)) + 0.2  # inches, with the space around it
    intervals = max(1, min(8, int(inches / label)))
    steps = [1, 2, 2.5, 5, 10]
    axis.set_major_locator(
        MaxNLocator(intervals, integer=True, min_n_ticks=1, steps=steps)
    )
    axis.set_major_formatter(StrMethodFormatter(text))


def add_legend_below(figure: "Figure", axes: "Axes") -> None:
    """Put the legend of one of the axes below all axes of the figure."""
    handles, labels = axes.get_legend_handles_labels()
    labels = [break_name(label, 48, 6) for label in labels]
    # As many columns as fit: a letter takes about 0.1 inches, a line sample 0.7.
    widths = [0.1 * max(map(len, label.split("\n"))) + 0.7 for label in labels]
    space = figure.get_figwidth()
    columns = len(widths) if sum(widths) < space else int(space / max(widths))
    figure.legend(handles, labels, loc="outside lower center", ncols=max(columns, 1))


def set_name_ticks(axes: "Axes", names: Sequence[str]) -> None:
    """Put names at 0, 1, 2 and so on of the x-axis; long ones are turned."""
    lines = [break_name(name) for name in names]
    if max(map(len, lines)) > 8:
        axes.set_xticks(
            range(len(lines)),
            lines,
            rotation=45,
            rotation_mode="anchor",
            ha="right",
            va="top",
            ma="right",
        )
    else:
        axes.set_xticks(range(len(lines)), lines)


def draw_heat_map(
    figure: "Figure",
    share: Float[np.ndarray, "R C"],
    texts: Sequence[Sequence[str]],
    rows: Sequence[str],
    columns: Sequence[str],
    scale: str,
) -> "Axes":
    """Draw a matrix of shares, 0 to 1, with a text in each cell; return the axes.

    `scale` is the label of the colour bar.
    """
    axes = figure.subplots()
    image = axes.imshow(share, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    for row, line in enumerate(texts):
        for column, text in enumerate(line):
            colour = "white" if share[row, column] < 0.5 else "black"
            axes.text(column, row, text, ha="center", va="center", color=colour)
    set_name_ticks(axes, columns)
    axes.set_yticks(range(len(rows)), [break_name(name) for name in rows])
    figure.colorbar(image, label=scale)
    return axes
