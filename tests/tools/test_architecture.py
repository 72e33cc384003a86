"""The picture of the architecture: its folders, its arrows, the file in the docs."""

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import get_args

import pytest

import jax_ttt
from jax_ttt.pictures.picture import Theme
from tools import architecture

FIGURES = Path(__file__).parents[2] / "docs" / "figures"
PACKAGE = Path(jax_ttt.__file__).parent
SVG = "{http://www.w3.org/2000/svg}"


def test_the_folders_are_those_of_the_package():
    rows = (
        architecture.START,
        architecture.UPDATE,
        architecture.AGENT,
        architecture.USES,
    )
    for box in (box for row in rows for box in row):
        for folder in box.folders:
            assert (PACKAGE / folder).is_dir(), f"{box.title}: {folder}"


@pytest.mark.parametrize("theme", get_args(Theme))
def test_every_arrow_leads_right_or_down(theme):
    picture = ET.fromstring(architecture.architecture_picture(theme).svg)
    arrows = picture.findall(f"{SVG}line")
    assert len(arrows) == 10
    for arrow in arrows:
        x1, y1, x2, y2 = (
            float(arrow.attrib[name]) for name in ("x1", "y1", "x2", "y2")
        )
        assert (x1 < x2 and y1 == y2) or (x1 == x2 and y1 < y2)


@pytest.mark.parametrize("theme", get_args(Theme))
def test_the_file_in_the_docs_is_this_picture(theme):
    path = FIGURES / f"architecture-{theme}.svg"
    assert path.read_text("utf-8") == architecture.architecture_picture(theme).svg
