"""The drawing of a round: what is reached and lost in it, and the file in the docs."""

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import get_args

import pytest

from jax_ttt.pictures.picture import Theme
from tools import round_drawing

FIGURES = Path(__file__).parents[2] / "docs" / "figures"
SVG = "{http://www.w3.org/2000/svg}"


def test_the_round_closes_the_line_that_self_play_does_not_reach():
    before = set(round_drawing.reached(round_drawing.BEFORE))
    after = set(round_drawing.reached(round_drawing.AFTER))
    assert before & round_drawing.LOSSES == {"211"}
    assert not after & round_drawing.LOSSES
    assert set(round_drawing.SELF_PLAY_LINE) <= before
    assert round_drawing.counterexamples(round_drawing.BEFORE) == {"2"}
    assert not round_drawing.counterexamples(round_drawing.AFTER)


def test_an_agent_reaches_all_moves_of_the_opponent_and_one_of_its_own():
    """3 moves of the opponent, one of the agent, 2 of the opponent."""
    nodes = round_drawing.reached(round_drawing.BEFORE)
    assert [sum(len(node) == n for node in nodes) for n in range(4)] == [1, 3, 3, 6]


@pytest.mark.parametrize("theme", get_args(Theme))
def test_lost_lines_and_counterexamples_are_marked(theme):
    picture = ET.fromstring(round_drawing.round_picture(theme).svg)
    edges = [line.attrib["class"] for line in picture.findall(f"{SVG}line")]
    assert edges.count("lost") == 3
    rings = [c for c in picture.findall(f"{SVG}circle") if "class" in c.attrib]
    assert len(rings) == 3  # in two steps, and in the legend


@pytest.mark.parametrize("theme", get_args(Theme))
def test_the_file_in_the_docs_is_this_drawing(theme):
    path = FIGURES / f"counterexamples-{theme}.svg"
    assert path.read_text("utf-8") == round_drawing.round_picture(theme).svg
