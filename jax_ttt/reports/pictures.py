"""What all pictures have in common: SVG text, two themes, colours told apart by anyone.

All but boards need the extra `plots` (matplotlib).
"""

import dataclasses
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Theme = Literal["light", "dark"]

# Of the colours that Okabe and Ito (2008) chose for colour-blind readers, those that
# stand out on white and on black; blue, grey and orange come first.
_COLOURS = {
    "light": ("#0072b2", "#595959", "#d55e00", "#009e73", "#cc79a7", "#000000"),
    "dark": ("#56b4e9", "#b0b0b0", "#e69f00", "#009e73", "#cc79a7", "#f0e442"),
}
_BACKGROUND = {"light": "white", "dark": "#0d1117"}


@dataclasses.dataclass(frozen=True)
class Picture:
    """An SVG image; a notebook shows it."""

    svg: str = dataclasses.field(repr=False)  # else a notebook would hold it twice

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Path) -> None:
        """Write the file."""
        path.write_text(self.svg, "utf-8")


def colours(theme: Theme) -> tuple[str, ...]:
    """Return blue, grey and orange: of wins, draws and losses."""
    return _COLOURS[theme][:3]


def style(theme: Theme) -> Any:  # noqa: ANN401
    """Return the context of a figure; in it, the same data give the same text."""
    import matplotlib as mpl
    from cycler import cycler  # matplotlib's own
    from matplotlib import style

    settings: dict[Any, Any] = {
        # Of lines with other meanings: grey is for what is not ours.
        "axes.prop_cycle": cycler(color=[_COLOURS[theme][i] for i in (0, 2, 3, 4, 5)]),
        "axes.facecolor": _BACKGROUND[theme],
        "figure.facecolor": _BACKGROUND[theme],
        "savefig.facecolor": _BACKGROUND[theme],
        "grid.alpha": 0.3,
        "font.size": 11,
        "svg.fonttype": "none",
        "svg.hashsalt": "jax_ttt",
    }
    if theme == "dark":
        settings = dict(style.library["dark_background"]) | settings
    return mpl.rc_context(settings)


def figure_picture(figure: "Figure") -> Picture:
    """Return a figure as a picture; call it inside its `style`."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return Picture(text.getvalue())


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
    turned = {"rotation": 30, "ha": "right"} if max(map(len, columns)) > 8 else {}
    axes.set_xticks(range(len(columns)), columns, **turned)
    axes.set_yticks(range(len(rows)), rows)
    figure.colorbar(image)
    return axes
