"""Parts of charts: names, ticks, legends, bands, heat maps; need the extra `plots`."""

import re
from collections.abc import Sequence, Sized
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


FEW = 12
"""Points of a line, at most, that are marked: a line of one point is seen too."""


def shortened(name: str, width: int = 24, most: int = 3) -> str:
    """Return a name in at most `most` lines of `width` characters, or one more.

    Lines end after a space, slash, dash or underscore where they can. Of a name that
    needs more lines, the middle is left out.
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


def marks(points: Sized) -> dict[str, Any]:
    """Return the style of a line that marks its points where they are few."""
    return {"marker": "o" if len(points) <= FEW else "", "ms": 3}


def whole_numbers(
    axis: "Axis", largest: int, inches: float | int, text: str = "{x:,.0f}"
) -> None:
    """Let an axis of `inches` have ticks at whole numbers only, written as `text`."""
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    label = 0.11 * len(text.format(x=largest)) + 0.2  # inches, with the space around it
    intervals = max(1, min(8, int(inches / label)))
    steps = [1, 2, 2.5, 5, 10]
    axis.set_major_locator(
        MaxNLocator(intervals, integer=True, min_n_ticks=1, steps=steps)
    )
    axis.set_major_formatter(StrMethodFormatter(text))


def legend_below(figure: "Figure", axes: "Axes") -> None:
    """Explain the lines and points of axes below all axes of the figure."""
    drawn, labels = axes.get_legend_handles_labels()
    labels = [shortened(label, 48, 6) for label in labels]
    # As many beside each other as fit: some 0.1 inches a letter, and the lines.
    widths = [0.1 * max(map(len, label.split("\n"))) + 0.7 for label in labels]
    space = figure.get_figwidth()
    columns = len(widths) if sum(widths) < space else int(space / max(widths))
    figure.legend(drawn, labels, loc="outside lower center", ncols=max(columns, 1))


def band(
    axes: "Axes",
    across: Any,  # noqa: ANN401
    low_middle_high: Any,  # noqa: ANN401
    label: str,
    **style: Any,  # noqa: ANN401
) -> None:
    """Draw a line of middle values and the band from the lowest to the highest."""
    low, middle, high = low_middle_high
    (drawn,) = axes.plot(across, middle, label=label, **style)
    axes.fill_between(across, low, high, color=drawn.get_color(), alpha=0.2, lw=0)


def heat_map(
    figure: "Figure",
    share: Any,  # noqa: ANN401
    texts: Sequence[Sequence[str]],
    rows: Sequence[str],
    columns: Sequence[str],
) -> Any:  # noqa: ANN401
    """Draw a matrix of shares, 0 to 1, with a text in each field; return the axes.

    The scale's label is set by `axes.images[0].colorbar`.
    """
    axes = figure.subplots()
    image = axes.imshow(share, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    for row, line in enumerate(texts):
        for column, text in enumerate(line):
            colour = "white" if share[row, column] < 0.5 else "black"
            axes.text(column, row, text, ha="center", va="center", color=colour)
    names = [shortened(name) for name in columns]
    turned: dict[str, Any] = {"rotation": 45, "rotation_mode": "anchor"}
    turned |= {"ha": "right", "va": "top", "ma": "right"}
    turned = turned if max(map(len, names)) > 8 else {}
    axes.set_xticks(range(len(names)), names, **turned)
    axes.set_yticks(range(len(rows)), [shortened(name) for name in rows])
    figure.colorbar(image)
    return axes
