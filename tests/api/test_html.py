"""Results as HTML: names are escaped, pictures are optional."""

from jax_ttt.api import html
from jax_ttt.drawing.pictures import Picture

BAD = "<script>&"
SAFE = "&lt;script&gt;&amp;"


def test_tables_and_text_are_escaped():
    shown = html.table_of(BAD, [[BAD, 1]], [BAD, "x"])
    assert "<script" not in shown
    assert shown.count(SAFE) == 3
    assert shown.count("<tr>") == 2
    assert html.preformatted(BAD) == f"<pre>{SAFE}</pre>"


def test_a_picture_is_below_its_description_without_the_xml_prolog():
    svg = '<?xml version="1.0"?>\n<!DOCTYPE svg>\n<svg>here</svg>'
    shown = html.with_picture("<p>text</p>", lambda: Picture(svg))
    assert shown == "<div><p>text</p>\n<svg>here</svg></div>"


def test_without_matplotlib_the_description_stands_alone():
    def picture():
        raise ImportError

    assert html.with_picture("<p>text</p>", picture) == "<div><p>text</p></div>"
