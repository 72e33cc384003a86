"""The same shapes as SVG, PNG and PDF."""

import io
import xml.etree.ElementTree as ET

import numpy as np
from matplotlib import image

from jax_ttt.pictures import shapes
from jax_ttt.pictures.shapes import Line, Ring, Tile

SIZE = (100, 60)
SHAPES = [
    Tile((10, 10), 40, 5, "#ff0000"),
    Line((60, 30), (90, 30), "#0000ff", 8),
    Ring((30, 30), 10, "#00ff00", 6),
]


def pixel(picture, x, y):
    """Return the colour of a picture at a place in pixels of its own size."""
    scale = picture.shape[0] / SIZE[1]
    return tuple(np.round(picture[int(y * scale), int(x * scale), :3]).astype(int))


def test_a_png_has_each_shape_in_its_place():
    picture = image.imread(io.BytesIO(shapes.rendered(SHAPES, SIZE, "white", "png")))
    assert picture.shape[:2] == (120, 200)
    assert pixel(picture, 5, 5) == (1, 1, 1)
    assert pixel(picture, 14, 30) == (1, 0, 0), "the tile"
    assert pixel(picture, 30, 30) == (1, 0, 0), "the ring is hollow"
    assert pixel(picture, 30, 20) == (0, 1, 0)
    assert pixel(picture, 75, 30) == (0, 0, 1)
    assert pixel(picture, 75, 40) == (1, 1, 1)


def test_a_page_says_its_size_and_its_title():
    page = ET.fromstring(shapes.svg_page(SIZE, ["<g/>"], "X & O"))
    assert page.get("viewBox") == "0 0 100 60"
    assert (page.get("width"), page.get("height")) == ("100", "60")
    assert page[0].text == "X & O"
    ET.fromstring(shapes.filled(SIZE, "white"))
