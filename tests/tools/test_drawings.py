"""The drawings of the architecture and of a round, and their files in the docs."""

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import get_args

import pytest

import jax_ttt
from jax_ttt.pictures.picture import Theme
from tools import architecture, round_drawing

FIGURES = Path(__file__).parents[2] / "docs" / "figures"
PACKAGE = Path(jax_ttt.__file__).parent
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("theme", get_args(Theme))
def test_the_files_in_the_docs_are_these_drawings(theme):
    for name, draw in (
        ("architecture", architecture.architecture_picture),
        ("counterexamples", round_drawing.round_picture),
    ):
        path = FIGURES / f"{name}-{theme}.svg"
        assert path.read_text("utf-8") == draw(theme).svg, "run `make figures`"


def test_the_folders_of_the_architecture_are_those_of_the_package():
    rows = (
        *(architecture.START, architecture.UPDATE),
        *(architecture.AGENT, architecture.USES),
    )
    folders = {folder for row in rows for box in row for folder in box.folders}
    assert all((PACKAGE / folder).is_dir() for folder in folders)


def test_every_arrow_of_the_architecture_leads_right_or_down():
    picture = ET.fromstring(architecture.architecture_picture().svg)
    arrows = picture.findall(f"{SVG}line")
    assert len(arrows) == 10
    for arrow in arrows:
        x1, y1, x2, y2 = (
            float(arrow.attrib[name]) for name in ("x1", "y1", "x2", "y2")
        )
        assert (x1 < x2 and y1 == y2) or (x1 == x2 and y1 < y2)


def test_the_round_closes_the_line_that_self_play_does_not_reach():
    before = round_drawing.reached(round_drawing.BEFORE)
    after = round_drawing.reached(round_drawing.AFTER)
    # 3 moves of the opponent, one of the agent, 2 of the opponent.
    assert [sum(len(node) == n for node in before) for n in range(4)] == [1, 3, 3, 6]
    assert set(before) & round_drawing.LOSSES == {"211"}
    assert not set(after) & round_drawing.LOSSES
    assert set(round_drawing.SELF_PLAY_LINE) <= set(before)
    assert round_drawing.counterexamples(round_drawing.BEFORE) == {"2"}
    assert not round_drawing.counterexamples(round_drawing.AFTER)
    picture = ET.fromstring(round_drawing.round_picture().svg)
    edges = [line.attrib["class"] for line in picture.findall(f"{SVG}line")]
    assert edges.count("lost") == 3
