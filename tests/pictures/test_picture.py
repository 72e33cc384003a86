"""Pictures: their colours, and their files by ending."""

import itertools
import re
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.image import imread

from jax_ttt.config.errors import Refused
from jax_ttt.files.picture_file import Theme
from jax_ttt.pictures import picture as pictures

STARTS = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF-", ".PNG": b"\x89PNG"}


def line_picture(theme: Theme = "light"):
    with pictures.theme_style(theme):
        figure = Figure()
        figure.subplots().plot([0, 1], label="line")
        return pictures.figure_picture(figure, theme)


@pytest.mark.parametrize(("theme", "grey"), [("light", 1), ("dark", 0.07)])
def test_the_same_figure_gives_the_same_files_and_changes_no_default(
    theme, grey, tmp_path
):
    before = mpl.rcParams["figure.facecolor"]
    one, other = line_picture(theme), line_picture(theme)
    assert one.svg == other.svg
    one.save(tmp_path / "a.png")
    other.save(tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    corner = imread(tmp_path / "a.png")[0, 0, :3]
    assert corner.mean() == pytest.approx(grey, abs=0.01)
    assert mpl.rcParams["figure.facecolor"] == before


def luminance(colour):
    """Return the relative luminance of a colour, as WCAG defines it."""
    rgb = to_rgb(colour)
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def contrast(one, other):
    """Return the contrast of two colours, 1 to 21."""
    low, high = sorted(luminance(colour) + 0.05 for colour in (one, other))
    return high / low


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_and_texts_can_be_seen(theme):
    colours = pictures.colours(theme)
    assert len(set(colours)) == 3
    tile = pictures.TILES[theme]
    behind = (pictures.BACKGROUND[theme], tile)
    assert min(itertools.starmap(contrast, itertools.product(colours, behind))) >= 3
    for colour in (colours[0], colours[2]):
        for share in (0.0, 0.5, 1.0):
            fill = pictures.mix_colours(tile, colour, share)
            assert contrast(pictures.text_colour(fill), fill) >= 3.5


@pytest.mark.parametrize("path_type", [str, Path])
def test_the_ending_of_a_file_selects_its_format(path_type, tmp_path):
    picture = line_picture()
    for ending, start in STARTS.items():
        path = tmp_path / f"picture{ending}"
        picture.save(path_type(path))
        assert path.read_bytes().startswith(start)


def test_another_ending_is_refused(tmp_path):
    for name in ("a.gif", "a", "a.svg.txt"):
        path = tmp_path / name
        reason = rf"{re.escape(str(path))}: .* \.svg, \.png or \.pdf"
        with pytest.raises(Refused, match=reason):
            pictures.Picture("<svg/>").save(path)
        assert not path.exists()
