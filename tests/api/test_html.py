"""Results as HTML: names are escaped, pictures are optional."""

from jax_ttt.api import html
from jax_ttt.reports.pictures import Picture

BAD = "<script>&"
SAFE = "&lt;script&gt;&amp;"


def test_tables_and_text_are_escaped():
    shown = html.table_of(BAD, [[BAD, 1]], [BAD, "x"])
    assert "<script" not in shown
    assert shown.count(SAFE) == 3
    assert shown.count("<tr>") == 2
    assert html.preformatted(BAD) == f"<pre>{SAFE}</pre>"


def test_a_picture_stands_below_its_description_without_xmls_first_lines():
    svg = '<?xml version="1.0"?>\n<!DOCTYPE svg>\n<svg>here</svg>'
    shown = html.with_picture("<p>told</p>", lambda: Picture(svg))
    assert shown == "<div><p>told</p>\n<svg>here</svg></div>"


def test_without_matplotlib_the_description_stands_alone():
    def picture():
        raise ImportError

    assert html.with_picture("<p>told</p>", picture) == "<div><p>told</p></div>"
