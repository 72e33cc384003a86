"""What all pictures have in common: their file, themes, bands and heat maps."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from jax_ttt.reports import pictures


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_same_figure_gives_the_same_text_and_nothing_stays_set(theme):
    before = mpl.rcParams["figure.facecolor"]

    def draw():
        with pictures.style(theme):
            figure = Figure()
            figure.subplots().plot([0, 1], label="line")
            return pictures.figure_picture(figure)

    assert draw().svg == draw().svg
    assert ("#0d1117" in draw().svg) == (theme == "dark")
    assert mpl.rcParams["figure.facecolor"] == before
    assert len(set(pictures.colours(theme))) == 3


def test_a_picture_is_shown_and_saved_and_not_held_twice(tmp_path):
    picture = pictures.Picture("<svg>é</svg>")
    picture.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_bytes() == "<svg>é</svg>".encode()
    assert picture._repr_svg_() == "<svg>é</svg>"
    assert repr(picture) == "Picture()"


def test_a_band_reaches_from_the_lowest_to_the_highest():
    axes = Figure().subplots()
    low, middle, high = [0, 1], [1, 3], [2, 6]
    pictures.band(axes, [5, 6], (low, middle, high), "label")
    assert np.asarray(axes.lines[0].get_ydata()).tolist() == middle
    (path,) = axes.collections[0].get_paths()
    corners = set(map(tuple, np.asarray(path.vertices).tolist()))
    assert corners == {(5, 0), (6, 1), (5, 2), (6, 6)}


def test_a_heat_map_has_a_text_in_each_field_that_stands_out():
    share = np.array([[0.0, 1.0], [0.49, 0.5]])
    axes = pictures.heat_map(Figure(), share, ["ab", "cd"], ["one", "two"], ["x", "y"])
    found = {text.get_text(): text for text in axes.texts}
    assert [found[name].get_color() for name in "abcd"] == [
        *("white", "black", "white", "black")
    ]
    assert found["c"].get_position() == (0, 1)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["one", "two"]
