"""Boards are drawn as they are, and values on the cells that they belong to."""

import functools
import io
import re
import sys
import types
import xml.etree.ElementTree as ET

import jax
import numpy as np
import pytest
import tiny
from matplotlib.image import imread

from jax_ttt.config.errors import Refused
from jax_ttt.config.presets import PRESETS
from jax_ttt.games.game import Game
from jax_ttt.networks import q_network
from jax_ttt.pictures import board_svg
from jax_ttt.pictures import picture as pictures
from jax_ttt.players.network_player import network_of
from jax_ttt.text.board_text import find_position

GAME = [4, 0, 2, 6, 3, 5, 1, 7, 8]  # a draw
TEXTS = re.compile(r"<text[^>]*>([^<]*)</text>")


@pytest.fixture(scope="module")
def agent():
    return tiny.untrained(PRESETS["default"])


@pytest.fixture(scope="module")
def states():
    """Return the states of a whole game."""
    return Game.start("tic_tac_toe", GAME).states


SVG = "http://www.w3.org/2000/svg"


def elements(picture, tag):
    return [e for e in ET.fromstring(picture.svg).iter() if e.tag == f"{{{SVG}}}{tag}"]


def numbers(element, *names):
    return [float(element.get(name)) for name in names]


def middles(picture):
    """Return the middles of all crosses, which are two slanted lines, and rings."""
    lines = [numbers(e, "x1", "x2", "y1", "y2") for e in elements(picture, "line")]
    assert all(x1 != x2 and y1 != y2 for x1, x2, y1, y2 in lines)
    crosses = [(round((a + b) / 2), round((c + d) / 2)) for a, b, c, d in lines]
    assert crosses[::2] == crosses[1::2]
    circles = elements(picture, "circle")
    assert all(e.get("fill") == "none" for e in circles)
    return crosses[::2], [tuple(numbers(e, "cx", "cy")) for e in circles]


def test_each_stone_is_a_cross_or_a_ring_in_its_cell(states):
    """A cell has 60 pixels, a board a margin of 10."""
    for moves, state in enumerate(states):
        places = [(10 + 60 * (c % 3) + 30, 10 + 60 * (c // 3) + 30) for c in GAME]
        crosses, rings = middles(board_svg.position_picture(state))
        assert sorted(crosses) == sorted(places[:moves][::2])
        assert sorted(rings) == sorted(places[:moves][1::2])


def test_the_colours_are_those_of_the_theme(states):
    for theme in ("light", "dark"):
        picture = board_svg.position_picture(states[2], theme)
        blue, _, orange = pictures.colours(theme)
        assert {e.get("stroke") for e in elements(picture, "line")} == {blue}
        assert {e.get("stroke") for e in elements(picture, "circle")} == {orange}
        behind, *tiles = (e.get("fill") for e in elements(picture, "rect"))
        assert behind == pictures.background_colour(theme)
        assert tiles == [pictures.tile_colour(theme)] * 9


def test_a_batch_is_drawn_in_a_square():
    states = Game.start("tic_tac_toe", [4, 0, 8]).states
    batch = jax.tree.map(lambda *x: np.concatenate(x), *states)
    crosses, rings = middles(board_svg.position_picture(batch))
    assert (len(crosses), len(rings)) == (0 + 1 + 1 + 2, 0 + 0 + 1 + 1)
    assert max(crosses) == (360, 360), "the last move, in the fourth board"
    (page,) = elements(board_svg.position_picture(batch), "svg")
    assert (page.get("width"), page.get("height")) == ("400", "400")
    assert page[0].text == "tic tac toe"


def test_stones_are_numbered_by_their_moves_and_the_last_has_a_border(states):
    picture = board_svg.animation(states)
    frames = [e for e in ET.fromstring(picture.svg) if e.tag.endswith("}g")]
    assert len(frames) == len(states)
    for moves, frame in enumerate(frames):
        shown = sorted(TEXTS.findall(ET.tostring(frame, "unicode").replace("ns0:", "")))
        assert shown == sorted(map(str, range(1, moves + 1)))
        rects = list(frame.iter(f"{{{SVG}}}rect"))[1:]
        bordered = [n for n, e in enumerate(rects) if e.get("stroke") != "none"]
        assert bordered == GAME[max(moves - 1, 0) : moves]


def test_a_stone_that_changes_its_owner_keeps_its_number_and_a_removed_one_loses_it():
    game = [
        np.array(list(text), object).reshape(-1, 3, 3)
        for text in ("X--------", "XO-------", "OO-------", "-O-------")
    ]
    found = board_svg.move_numbers(game)
    assert [n.ravel()[:2].tolist() for n in found] == [[0, 0], [0, 1], [0, 1], [0, 1]]
    assert not board_svg.move_numbers([game[1], game[0]])[1].any()


def parts(svg):
    """Return the text of the style, outside of the media query and within it."""
    (style,) = re.findall(r"<style.*?>(.*)</style>", svg)
    outside, query, inside = re.split(r"(@media [^{]*)\{", style)
    return outside, query, inside


def test_without_animation_the_last_frame_lies_on_top(states):
    """Nothing is hidden but by the animation itself, which not all want."""
    svg = board_svg.animation(states[:4], seconds=0.5).svg
    outside, query, inside = parts(svg)
    assert not re.sub(r"@keyframes [\w-]+\{.*?\}\}", "", outside)
    assert "visibility" not in inside
    assert not re.search(r"\b(visibility|display|opacity)=", svg)
    assert query == "@media screen and (prefers-reduced-motion:no-preference)"
    assert inside.count("animation:") == 3
    assert inside.count("infinite") == 3
    assert "<style" not in board_svg.position_picture(states[3]).svg


def test_it_begins_with_the_last_frame_and_each_comes_at_its_time(states):
    """Every frame lies upon those before it, and is hidden until its time."""
    outside, _, inside = parts(board_svg.animation(states[:4], seconds=0.5).svg)
    assert re.findall(r" ([\d.]+)s step-end", inside) == ["3"] * 3
    found = re.findall(r"([\d.]+)%\{visibility:(\w+)\}", outside)
    shares = [[float(share), seen] for share, seen in found]
    for number, each in enumerate(zip(*[iter(shares)] * 3, strict=True), start=1):
        begin, hidden, again = (pytest.approx(n * 100 / 6) for n in (0, 3, 3 + number))
        want = [[begin, "visible"], [hidden, "hidden"], [again, "visible"]]
        assert list(each) == want
    assert len(shares) == 9


def test_connect_four_is_drawn_as_it_is_played():
    picture = board_svg.position_picture(
        Game.start("connect_four", [3, 3, 4]).states[-1]
    )
    crosses, ((_, height),) = middles(picture)
    assert len(crosses) == 2
    assert height < crosses[0][1], "the second stone lies on the first"
    (page,) = elements(picture, "svg")
    width, height = numbers(page, "width", "height")
    assert width > height, "seven columns, six rows"


@pytest.mark.slow
def test_a_game_without_stones_is_drawn_by_pgx(promoted_ranks):
    states = Game.start("hex", [0, 1]).states
    frames = re.findall(r'<g class="g\w+ g\w+-\d+">', board_svg.animation(states).svg)
    assert len(frames) == 3
    assert "<style" not in board_svg.position_picture(states[-1]).svg


def test_a_png_or_pdf_of_a_board_is_made_by_cairosvg(states, tmp_path, monkeypatch):
    """It converts the SVG file, of which it draws the last board."""
    made = types.SimpleNamespace(
        svg2png=lambda bytestring, scale: b"png %d" % scale + bytestring,
        svg2pdf=lambda bytestring, scale: b"pdf %d" % scale + bytestring,
    )
    monkeypatch.setitem(sys.modules, "cairosvg", made)
    picture = board_svg.animation(states)
    for ending in ("png", "pdf"):
        picture.save(tmp_path / f"a.{ending}")
        data = (tmp_path / f"a.{ending}").read_bytes()
        assert data == f"{ending} 2{picture.svg}".encode()


def test_without_cairosvg_a_png_of_a_board_is_refused(states, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(Refused, match=r"need cairosvg.*pip install 'jax_ttt\[png\]'"):
        board_svg.position_picture(states[3]).save(tmp_path / "a.png")
    assert not (tmp_path / "a.png").exists()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_png_of_a_game_is_its_last_board(theme, tmp_path, states):
    pytest.importorskip("cairosvg", exc_type=ImportError)
    board_svg.animation(states, theme).save(tmp_path / "game.png")
    image = imread(io.BytesIO((tmp_path / "game.png").read_bytes()))[..., :3]
    assert image.shape == (800, 800, 3)
    for cell, move in {cell: GAME.index(cell) for cell in range(9)}.items():
        y, x = (40 + 240 * n for n in divmod(cell, 3))
        middle, side = image[y + 120, x + 120], image[y + 120, x + 60]
        colour = pictures.colours(theme)[2 * (move % 2)]
        want = np.array(list(bytes.fromhex(colour[1:]))) / 255
        np.testing.assert_allclose(side if move % 2 else middle, want, atol=0.01)


def values_of(picture):
    """Return what is written on the cells of a picture of values, and their colours."""
    rects = elements(picture, "rect")[1:]
    shown = []
    for rect in rects:
        x, y, size = numbers(rect, "x", "y", "width")
        inside = [
            text.text
            for text in elements(picture, "text")
            for dx, dy in [np.subtract(numbers(text, "x", "y"), (x, y))]
            if 0 < dx < size and 0 < dy < size
        ]
        shown.append((*inside, rect.get("fill")))
    return shown


def test_values_stand_on_their_cells_beside_the_exact_ones(agent, host_tree):
    """O must take an edge: a corner loses."""
    position = find_position("tic_tac_toe", "X---O---X")
    picture = board_svg.values_picture(agent, position)
    every = values_of(picture)
    exact = [shown[0] if len(shown) > 1 else "" for shown in every[9:]]
    assert exact == ["", "+0.00", "-1.00", "+0.00", "", "+0.00", "-1.00", "+0.00", ""]
    learned = [shown[0] if len(shown) > 1 else "" for shown in every[:9]]
    network = network_of(agent.config.architecture)
    compute = jax.jit(functools.partial(q_network.q_values, network))
    q_values = np.asarray(compute(agent.params, host_tree.obs[position][None]))[0]
    for move, text in enumerate(learned):
        if move in (0, 4, 8):
            assert text == ""
        else:
            assert float(text) == pytest.approx(q_values[move], abs=0.0051)
    crosses, rings = middles(picture)
    assert (len(crosses), len(rings)) == (4, 2)
    for words in ("learned", "exact", "O to move"):
        assert f">{words}<" in picture.svg


def test_the_colour_of_a_value_is_that_of_its_result():
    """Text on it can be read."""
    cells = np.full((1, 5), "-", object)
    values = dict(enumerate((-1.0, -0.5, 0.0, 0.5, 1.0)))
    for theme in ("light", "dark"):
        blue, _, orange = pictures.colours(theme)
        drawn = board_svg.values_board(cells, {"learned": values}, "X to move", theme)
        fills = [shown[-1] for shown in values_of(drawn)]
        assert (fills[0], fills[2], fills[4]) == (
            orange,
            pictures.tile_colour(theme),
            blue,
        )
        assert len(set(fills)) == 5
        for fill in fills:
            assert contrast(pictures.text_colour(fill), fill) >= 3.5


def contrast(name, colour):
    """Return the contrast of black or white and a colour, as WCAG defines it."""
    rgb = np.array(list(bytes.fromhex(colour[1:]))) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    light = linear @ [0.2126, 0.7152, 0.0722] + 0.05
    return light / 0.05 if name == "black" else 1.05 / light


def test_a_free_cell_without_a_value_stays_empty_and_a_pass_is_not_drawn():
    cells = np.array([["X", "-"], ["-", "O"]], object)
    picture = board_svg.values_board(cells, {"learned": {1: 0.5, 4: 0.25}}, "X to move")
    texts = TEXTS.findall(picture.svg)
    assert [text for text in texts if text[0] in "+-"] == ["+0.50"]


@pytest.mark.parametrize(("seat", "mover"), [("first", "X"), ("second", "O")])
def test_values_say_who_moves_and_which_seat_was_learned(seat, mover):
    config = PRESETS["plain"].replace(hidden_size=8, opponent="random", seat=seat)
    cells = {"X": "---------", "O": "X--------"}[mover]
    position = find_position("tic_tac_toe", cells)
    title, *_ = TEXTS.findall(
        board_svg.values_picture(tiny.untrained(config), position).svg
    )
    assert title.startswith(f"{mover} to move")
    assert title.endswith(f"{seat} only, as {mover}")
