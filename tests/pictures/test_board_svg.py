"""Boards as SVG: stones in their cells, animations, values of moves."""

import re
import sys
import types
import xml.etree.ElementTree as ET

import jax
import numpy as np
import pytest
import tiny

from jax_ttt.api import values as action_values
from jax_ttt.config.errors import Refused
from jax_ttt.config.presets import PRESETS
from jax_ttt.games.played_game import Game
from jax_ttt.pictures import board_svg
from jax_ttt.pictures import picture as pictures

GAME = [4, 0, 2, 6, 3, 5, 1, 7, 8]  # a draw
SVG = "http://www.w3.org/2000/svg"
TEXTS = re.compile(r"<text[^>]*>([^<]*)</text>")


@pytest.fixture(scope="module")
def states():
    """Return the states of a whole game."""
    return Game.start("tic_tac_toe", GAME).states


def elements(picture, tag):
    return [e for e in ET.fromstring(picture.svg).iter() if e.tag == f"{{{SVG}}}{tag}"]


def numbers(element, *names):
    return [float(element.get(name)) for name in names]


def middles(picture):
    """Return the middles of all crosses (two slanted lines each) and of all rings."""
    lines = [numbers(e, "x1", "x2", "y1", "y2") for e in elements(picture, "line")]
    assert all(x1 != x2 and y1 != y2 for x1, x2, y1, y2 in lines)
    crosses = [(round((a + b) / 2), round((c + d) / 2)) for a, b, c, d in lines]
    assert crosses[::2] == crosses[1::2]
    rings = [tuple(numbers(e, "cx", "cy")) for e in elements(picture, "circle")]
    return crosses[::2], rings


def test_each_stone_is_a_cross_or_a_ring_in_its_cell(states):
    """A cell has 60 pixels, and a board a margin of 10."""
    places = [(10 + 60 * (c % 3) + 30, 10 + 60 * (c // 3) + 30) for c in GAME]
    for num_moves, state in enumerate(states):
        crosses, rings = middles(board_svg.position_picture(state))
        assert sorted(crosses) == sorted(places[:num_moves][::2])
        assert sorted(rings) == sorted(places[:num_moves][1::2])


def test_a_batch_is_drawn_in_a_square():
    states = Game.start("tic_tac_toe", [4, 0, 8]).states
    batch = jax.tree.map(lambda *x: np.concatenate(x), *states)
    picture = board_svg.position_picture(batch)
    crosses, rings = middles(picture)
    assert (len(crosses), len(rings)) == (0 + 1 + 1 + 2, 0 + 0 + 1 + 1)
    assert max(crosses) == (360, 360), "the last move, in the fourth board"
    (page,) = elements(picture, "svg")
    assert numbers(page, "width", "height") == [400, 400]
    assert page[0].text == "tic tac toe"


def test_stones_are_numbered_by_their_moves_and_the_last_has_a_border(states):
    frames = [
        e
        for e in ET.fromstring(board_svg.animation(states).svg)
        if e.tag.endswith("}g")
    ]
    assert len(frames) == len(states)
    for num_moves, frame in enumerate(frames):
        texts = TEXTS.findall(ET.tostring(frame, "unicode").replace("ns0:", ""))
        assert sorted(texts) == sorted(map(str, range(1, num_moves + 1)))
        rects = list(frame.iter(f"{{{SVG}}}rect"))[1:]
        bordered = [n for n, e in enumerate(rects) if e.get("stroke") != "none"]
        assert bordered == GAME[max(num_moves - 1, 0) : num_moves]


def test_a_captured_stone_keeps_its_number_and_a_removed_one_loses_it():
    boards = [
        np.array(list(text), object).reshape(-1, 3, 3)
        for text in ("X--------", "XO-------", "OO-------", "-O-------")
    ]
    numbers = [n.ravel()[:2].tolist() for n in board_svg.move_numbers(boards)]
    assert numbers == [[0, 0], [0, 1], [0, 1], [0, 1]]


def test_an_animation_shows_the_last_frame_first_and_where_nothing_moves(states):
    """Frames hide by the animation alone, and each lies upon those before it."""
    svg = board_svg.animation(states[:4], seconds=0.5).svg
    (style,) = re.findall(r"<style.*?>(.*)</style>", svg)
    outside, query, inside = re.split(r"(@media [^{]*)\{", style)
    assert query == "@media screen and (prefers-reduced-motion:no-preference)"
    assert re.findall(r" ([\d.]+)s step-end infinite", inside) == ["3"] * 3
    assert not re.sub(r"@keyframes [\w-]+\{.*?\}\}", "", outside)
    assert not re.search(r"\b(visibility|display|opacity)=", svg)
    key_frames = re.findall(r"([\d.]+)%\{visibility:(\w+)\}", outside)
    assert [seen for _, seen in key_frames] == ["visible", "hidden", "visible"] * 3
    # The last frame takes three of six steps, then the others follow.
    shares = [float(share) for share, _ in key_frames]
    steps = [0, 3, 4, 0, 3, 5, 0, 3, 6]
    np.testing.assert_allclose(shares, [100 * n / 6 for n in steps], atol=1e-3)
    assert "<style" not in board_svg.position_picture(states[3]).svg


@pytest.mark.slow
def test_a_game_without_stones_is_drawn_by_pgx(promoted_ranks):
    states = Game.start("hex", [0, 1]).states
    frames = re.findall(r'<g class="g\w+ g\w+-\d+">', board_svg.animation(states).svg)
    assert len(frames) == 3
    assert "<style" not in board_svg.position_picture(states[-1]).svg


def test_cairosvg_converts_a_board_and_its_absence_is_an_error(
    states, tmp_path, monkeypatch
):
    picture = board_svg.animation(states)
    converter = types.SimpleNamespace(
        svg2png=lambda bytestring, scale: b"png %d" % scale + bytestring,
        svg2pdf=lambda bytestring, scale: b"pdf %d" % scale + bytestring,
    )
    monkeypatch.setitem(sys.modules, "cairosvg", converter)
    for ending in ("png", "pdf"):
        picture.save(tmp_path / f"a.{ending}")
        data = (tmp_path / f"a.{ending}").read_bytes()
        assert data == f"{ending} 2{picture.svg}".encode()
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(Refused, match=r"need cairosvg.*pip install 'jax_ttt\[png\]'"):
        picture.save(tmp_path / "b.png")
    assert not (tmp_path / "b.png").exists()


def cell_texts(picture):
    """Return the text on each cell of a picture of values, "" if there is none."""
    texts = elements(picture, "text")

    def on(rect):
        x, y, size = numbers(rect, "x", "y", "width")
        for text in texts:
            dx, dy = np.subtract(numbers(text, "x", "y"), (x, y))
            if 0 < dx < size and 0 < dy < size:
                return text.text or ""
        return ""

    return [on(rect) for rect in elements(picture, "rect")[1:]]


def test_values_stand_on_their_cells_beside_the_exact_ones():
    """O must take an edge: a corner loses."""
    agent = tiny.untrained(PRESETS["default"])
    picture = action_values.q_values(agent, "X---O---X").picture()
    texts = cell_texts(picture)
    edge, corner = "+0.00", "-1.00"
    assert texts[9:] == ["", edge, corner, edge, "", edge, corner, edge, ""]
    for move, value in action_values.q_values(agent, [0, 4, 8]).items():
        assert float(texts[move]) == pytest.approx(value, abs=0.0051)
    assert [texts[move] for move in (0, 4, 8)] == ["", "", ""]
    assert tuple(map(len, middles(picture))) == (4, 2)
    for title in ("learned", "exact", "O to move"):
        assert f">{title}<" in picture.svg


def test_the_colour_of_a_value_is_that_of_its_result():
    cells = np.full((1, 5), "-", object)
    values = dict(enumerate((-1.0, -0.5, 0.0, 0.5, 1.0)))
    picture = board_svg.values_board(cells, {"learned": values}, "X to move")
    blue, _, orange = pictures.colours("light")
    fills = [rect.get("fill") for rect in elements(picture, "rect")[1:]]
    assert fills[::2] == [orange, pictures.TILES["light"], blue]
    assert len(set(fills)) == 5
