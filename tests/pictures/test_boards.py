"""Boards are drawn as they are, and values on the cells that they belong to."""

import functools
import re
import xml.etree.ElementTree as ET

import jax
import numpy as np
import pytest
import tiny
from matplotlib.colors import to_rgb
from matplotlib.image import imread

from jax_ttt.config.errors import Refused
from jax_ttt.config.presets import PRESETS
from jax_ttt.games.game import Game
from jax_ttt.networks import q_network
from jax_ttt.pictures import boards, themes
from jax_ttt.players.network import network_of
from jax_ttt.text import text_board

GAME = [4, 0, 2, 6, 3, 5, 1, 7, 8]  # a draw


@pytest.fixture(scope="module")
def agent():
    return tiny.untrained(PRESETS["default"])


@pytest.fixture(scope="module")
def states():
    """Return the states of a whole game."""
    return Game.start("tic_tac_toe", GAME).states


def marks(picture):
    """Return how many crosses and noughts an image holds."""
    elements = list(ET.fromstring(picture.svg).iter())
    ends = [
        (line.get("x1") != line.get("x2"), line.get("y1") != line.get("y2"))
        for line in elements
        if line.tag.endswith("line")
    ]
    fills = [e.get("fill") for e in elements if e.tag.endswith("circle")]
    # A cross is two slanted lines; a nought is hollow.
    return ends.count((True, True)) // 2, fills.count("none")


def frames_of(picture):
    return [e for e in ET.fromstring(picture.svg) if e.tag.endswith("}g")]


def test_a_position_shows_its_marks(states):
    assert [marks(boards.position_picture(state)) for state in states] == [
        ((n + 1) // 2, n // 2) for n in range(10)
    ]
    assert bool(states[-1].terminated)


def test_random_games_go_on_until_all_are_over():
    states = boards.random_games("tic_tac_toe", 9, seed=3)
    played = [np.asarray(state._step_count) for state in states]
    assert played[0].tolist() == [0] * 9
    assert 5 <= len(states) - 1 <= 9
    assert bool(states[-1].terminated.all())
    assert not bool(states[-2].terminated.all())
    crosses, noughts = marks(boards.position_picture(states[-1]))
    assert crosses + noughts == sum(played[-1])
    other = boards.random_games("tic_tac_toe", 9, seed=4)
    assert boards.position_picture(other[-1]) != boards.position_picture(states[-1])


def test_a_game_shows_its_last_board_where_nothing_moves(states):
    """Its moves are numbered."""
    picture = boards.animation(states)
    frames = frames_of(picture)
    assert len(frames) == len(states)
    last = ET.tostring(frames[-1], "unicode")
    assert sorted(re.findall(r">(\d)<", last)) == list("123456789")
    assert "(prefers-reduced-motion:no-preference)" in picture.svg


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_png_of_a_game_is_its_last_board(theme, tmp_path, states):
    blue, _, orange = (to_rgb(colour) for colour in themes.colours(theme))
    boards.animation(states, theme).save(tmp_path / "game.png")
    image = imread(tmp_path / "game.png")[..., :3]
    assert image.shape == (800, 800, 3)
    number = {0: 2, 1: 7, 2: 3, 3: 5, 4: 1, 5: 6, 6: 4, 7: 8, 8: 9}
    for cell, move in number.items():
        y, x = (40 + 240 * n for n in divmod(cell, 3))
        middle, side = image[y + 120, x + 120], image[y + 120, x + 60]
        colour = (middle, blue) if move % 2 else (side, orange)
        np.testing.assert_allclose(*colour, atol=0.01)


def test_connect_four_is_drawn_as_it_is_played():
    states = Game.start("connect_four", [3, 3, 4]).states
    picture = boards.animation(states)
    last = frames_of(picture)[-1]
    (ring,) = (e for e in last if e.tag.endswith("circle"))
    crosses = [e for e in last if e.tag.endswith("line")]
    assert len(crosses) == 4
    bottom = max(float(e.get("y1", 0)) for e in crosses)
    assert float(ring.get("cy", 0)) < bottom, "the second stone lies on the first"
    page = ET.fromstring(picture.svg)
    width, height = (float(page.get(side, 0)) for side in ("width", "height"))
    assert width > height, "seven columns, six rows"


@pytest.mark.slow
def test_a_game_without_stones_is_drawn_by_pgx(promoted_ranks, tmp_path):
    states = Game.start("hex", [0, 1]).states
    picture = boards.animation(states)
    assert len(frames_of(picture)) == 3
    with pytest.raises(Refused, match=r"\.svg only"):
        picture.save(tmp_path / "a.png")
    position = boards.position_picture(states[-1])
    assert "<style" not in position.svg


def test_a_board_is_found_as_it_is_written(host_tree):
    for position in host_tree.decisions[[0, 1, 100, 2000, 4519]].tolist():
        cells = text_board.cells_as_text(host_tree, position)
        assert boards.find("tic_tac_toe", cells) == position


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ("X", "not 9 of X, O"),
        ("X---x----", "not 9 of X, O"),
        ("XX-------", "no play leads"),
        ("XXXOOO---", "no play leads"),
        ("XXXOO----", "the game is over"),
    ],
)
def test_a_board_that_is_none_is_refused(cells, why):
    with pytest.raises(ValueError, match=why):
        boards.find("tic_tac_toe", cells)


def test_values_stand_on_their_cells_beside_the_exact_ones(agent, drawn, host_tree):
    position = boards.find("tic_tac_toe", "X---O---X")
    figure = drawn(boards.values_picture, agent, position)
    learned, exact, *_ = figure.axes
    # O must take an edge: a corner loses.
    want = [[np.nan, 0, -1], [0, np.nan, 0], [-1, 0, np.nan]]
    np.testing.assert_array_equal(exact.images[0].get_array().filled(np.nan), want)
    texts = [text.get_text() for text in exact.texts]
    assert " ".join(texts) == "X +0.00 -1.00 +0.00 O +0.00 -1.00 +0.00 X"
    network = network_of(agent.config.architecture)
    compute = jax.jit(functools.partial(q_network.q_values, network))
    q_values = np.asarray(compute(agent.params, host_tree.obs[position][None]))[0]
    shown = learned.images[0].get_array()
    np.testing.assert_allclose(
        shown.compressed(), q_values[[1, 2, 3, 5, 6, 7]], atol=1e-5
    )


def test_a_free_cell_without_a_value_stays_empty(drawn):
    cells = np.array([["X", "-"], ["-", "O"]], object)
    worth = np.array([np.nan, 0.5, np.nan, np.nan])
    axes, *_ = drawn(boards.on_board, cells, {"learned": worth}, "X to move").axes
    assert [text.get_text() for text in axes.texts] == ["X", "+0.50", "O"]


@pytest.mark.parametrize(("seat", "mover"), [("first", "X"), ("second", "O")])
def test_values_say_who_moves_and_which_seat_was_learned(drawn, seat, mover):
    config = PRESETS["plain"].replace(hidden_size=8, opponent="random", seat=seat)
    cells = {"X": "---------", "O": "X--------"}[mover]
    position = boards.find("tic_tac_toe", cells)
    figure = drawn(boards.values_picture, tiny.untrained(config), position)
    title = figure.get_suptitle().replace("\n", " ")
    assert title.startswith(f"{mover} to move")
    assert title.endswith(f"{seat} only, as {mover}")
