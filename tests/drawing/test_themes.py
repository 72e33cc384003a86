"""Two themes, in colours that people and printers tell apart."""

import matplotlib as mpl
import pytest
from matplotlib.colors import to_rgb

from jax_ttt.drawing import themes


def luminance(rgb):
    """Return the relative luminance of a colour, as WCAG defines it."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def contrast(one, other):
    """Return the contrast of two colours, 1 to 21."""
    low, high = sorted(luminance(to_rgb(colour)) + 0.05 for colour in (one, other))
    return high / low


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_stand_out_from_what_is_behind_them(theme):
    found = themes.colours(theme)
    assert len(set(found)) == 3
    for behind in (themes.background(theme), themes.tile(theme)):
        assert min(contrast(colour, behind) for colour in found) >= 3


def test_a_style_ends_with_its_figure():
    before = mpl.rcParams["figure.facecolor"]
    with themes.style("dark"):
        assert mpl.rcParams["figure.facecolor"] == themes.background("dark")
    assert mpl.rcParams["figure.facecolor"] == before
